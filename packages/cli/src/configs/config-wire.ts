import * as v from "valibot";

export const configWire = v.object({
  id: v.string(),
  type: v.string(),
  name: v.string(),
  team: v.nullish(v.string()),
  created_at: v.nullish(v.string()),
  content: v.nullish(v.string()),
  current: v.nullish(v.boolean()),
});
