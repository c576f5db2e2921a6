import { diskCid } from "../../ids.ts";
import { jsonObject } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const removeDynamicDisk = message({
  name: "remove_dynamic_disk",
  summary: "Removes that link.",
  args: [messageArg("disk_cid", diskCid, "the disk")],
  mode: "answer",
  result: jsonObject(),
  upstream: true,
});
