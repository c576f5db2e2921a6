import * as v from "valibot";

const text = v.nullish(v.string());

/** An event of the audit log. */
export const auditWire = v.object({
  id: v.string(),
  parent_id: text,
  timestamp: v.nullish(v.number()),
  user: text,
  action: text,
  object_type: text,
  object_name: text,
  task: text,
  deployment: text,
  instance: text,
  context: v.nullish(v.unknown()),
  error: text,
});

export type Audit = v.InferOutput<typeof auditWire>;
