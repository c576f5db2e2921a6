import { diskCid } from "../../ids.ts";
import { jsonObject } from "../../schema/json.ts";
import { diskHintWire } from "../../settings/disk-hint.ts";
import { message, messageArg } from "../message.ts";

export const addPersistentDisk = message({
  name: "add_persistent_disk",
  summary: "Remembers how to find a disk.",
  args: [
    messageArg("disk_cid", diskCid, "the disk"),
    messageArg("hint", diskHintWire, "how to find its device"),
  ],
  mode: "task",
  result: jsonObject(),
  upstream: true,
});
