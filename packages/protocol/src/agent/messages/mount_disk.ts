import * as v from "valibot";
import { diskCid } from "../../ids.ts";
import { jsonObject } from "../../schema/json.ts";
import { diskHintWire } from "../../settings/disk-hint.ts";
import { message, messageArg, optionalArg } from "../message.ts";

export const mountDisk = message({
  name: "mount_disk",
  summary: "Mounts a persistent disk; formats it only if it is certainly empty.",
  args: [
    messageArg("disk_cid", diskCid, "the disk"),
    optionalArg("hint", v.nullable(diskHintWire), "a draft's: how to find its device"),
  ],
  mode: "task",
  result: jsonObject(),
  upstream: true,
});
