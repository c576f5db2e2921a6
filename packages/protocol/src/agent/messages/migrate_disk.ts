import * as v from "valibot";
import { jsonObject } from "../../schema/json.ts";
import { message, optionalArg } from "../message.ts";

export const migrateDisk = message({
  name: "migrate_disk",
  summary: "Copies the mounted disk to the one at the migration target and puts that in its place.",
  args: [
    optionalArg("old_cid", v.nullable(v.string()), "sent by Directors, ignored upstream"),
    optionalArg(
      "new_cid",
      v.nullable(v.string()),
      "tells a repeat of a finished migration from one that has no target",
    ),
  ],
  mode: "task",
  result: jsonObject(),
  upstream: true,
});
