import * as v from "valibot";
import { open, text } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

const names = v.optional(v.nullable(v.array(v.union([v.string(), v.number()]))));

/** `POST /deployments/:deployment/ssh`. */
export const sshRequest = open({
  command: v.picklist(["setup", "cleanup"]),
  target: open({
    job: v.optional(v.nullable(doc(v.string(), "an instance group; default: all"))),
    ids: doc(names, "ids or indexes of instances; default: all"),
    indexes: doc(names, "of old CLIs, and only without `ids`"),
  }),
  params: open({
    user: v.optional(v.nullable(text("user"))),
    public_key: v.optional(v.nullable(text("public_key"))),
    user_regex: v.optional(v.nullable(text("user_regex"))),
  }),
});

/** One line of the task's result: a list, with one for each instance. */
export const sshAnswer = open({
  command: v.string(),
  status: v.string(),
  ip: v.optional(v.string()),
  host_public_key: v.optional(v.string()),
  port: v.optional(doc(v.number(), "ours, and only where it is not ssh's own")),
  job: v.string(),
  index: v.number(),
  id: v.string(),
  gateway_user: v.nullish(v.string()),
  gateway_host: v.nullish(v.string()),
});
export type SshAnswer = v.InferOutput<typeof sshAnswer>;
