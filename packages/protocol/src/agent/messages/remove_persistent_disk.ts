import { diskCid } from "../../ids.ts";
import { jsonObject } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const removePersistentDisk = message({
  name: "remove_persistent_disk",
  summary: "Forgets a disk.",
  args: [messageArg("disk_cid", diskCid, "the disk")],
  mode: "task",
  result: jsonObject(),
  upstream: true,
});
