import { diskCid } from "../../ids.ts";
import { jsonObject } from "../../schema/json.ts";
import { diskHintWire } from "../../settings/disk-hint.ts";
import { message, messageArg } from "../message.ts";

export const updatePersistentDisk = message({
  name: "update_persistent_disk",
  summary: "A draft's name for add_persistent_disk.",
  args: [
    messageArg("disk_cid", diskCid, "the disk"),
    messageArg("hint", diskHintWire, "how to find its device"),
  ],
  mode: "task",
  result: jsonObject(),
  upstream: false,
});
