import { diskCid } from "../../ids.ts";
import { jsonObject } from "../../schema/json.ts";
import { diskHintWire } from "../../settings/disk-hint.ts";
import { message, messageArg } from "../message.ts";

export const addDynamicDisk = message({
  name: "add_dynamic_disk",
  summary: "Links a disk under /var/vcap/data/dynamic_disks, without mounting it.",
  args: [
    messageArg("disk_cid", diskCid, "the disk"),
    messageArg("hint", diskHintWire, "how to find its device"),
  ],
  mode: "task",
  result: jsonObject(),
  upstream: true,
});
