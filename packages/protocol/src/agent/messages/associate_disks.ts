import * as v from "valibot";
import { open } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const associateDisks = message({
  name: "associate_disks",
  summary: "Links disks by name; older agents.",
  args: [
    messageArg(
      "associations",
      open({
        disk_associations: v.optional(v.nullable(v.array(open({ name: v.string(), cid: v.string() })))),
      }),
      "name and cid",
    ),
  ],
  mode: "task",
  result: v.literal("associated"),
  upstream: false,
});
