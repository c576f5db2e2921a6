import * as v from "valibot";
import { diskCid } from "../../ids.ts";
import { open } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const unmountDisk = message({
  name: "unmount_disk",
  summary: "Unmounts a persistent disk.",
  args: [messageArg("disk_cid", diskCid, "the disk")],
  mode: "task",
  result: open({ message: v.string() }),
  upstream: true,
});
