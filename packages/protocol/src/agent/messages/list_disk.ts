import * as v from "valibot";
import { message } from "../message.ts";

export const listDisk = message({
  name: "list_disk",
  summary: "The persistent disks that are mounted.",
  args: [],
  mode: "by-protocol",
  result: v.array(v.string()),
  upstream: true,
});
