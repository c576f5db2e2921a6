import * as v from "valibot";
import { open, text } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";

const number = v.union([v.string(), v.number()]);

/** `GET /configs/:id`: a cloud, runtime, CPI or any other config, one version of it. */
export const config = open({
  id: doc(v.string(), "a number, as text"),
  type: v.string(),
  name: v.string(),
  team: v.nullish(v.string()),
  created_at: v.nullish(doc(v.string(), "`2025-11-15 19:00:00 UTC`")),
  content: v.nullish(doc(hidden(v.string()), "YAML")),
  current: v.nullish(doc(v.boolean(), "the latest of its type and name")),
});
export type Config = v.InferOutput<typeof config>;

/** `GET /configs`. */
export const configsQuery = open({
  type: v.optional(v.string()),
  name: v.optional(v.string()),
  latest: v.optional(doc(v.string(), "`true`: a limit of one")),
  limit: v.optional(doc(v.string(), "versions of each type and name")),
});

/** `POST /configs`. */
export const newConfig = open({
  type: v.pipe(text("type"), v.maxLength(255)),
  name: v.pipe(text("name"), v.maxLength(255)),
  content: hidden(v.string()),
  expected_latest_id: v.optional(
    v.nullable(doc(number, "refused with 412 if the latest has another id; 0: there is none yet")),
  ),
});
/** `POST /configs` with 412. */
export const configConflict = open({
  latest_id: v.string(),
  expected_latest_id: v.string(),
  description: v.string(),
});

/** `DELETE /configs`. */
export const configDeletionQuery = open({ type: v.string(), name: v.string() });

/** One side: an id or content. The CLI sends both, and leaves one empty. */
export const configSide = open({
  id: v.optional(v.nullable(number)),
  content: v.optional(v.nullable(hidden(v.string()))),
});
/** `POST /configs/diff`: two sides, or new content for a type and name. */
export const configComparison = open({
  from: v.optional(configSide),
  to: v.optional(configSide),
  type: v.optional(v.string()),
  name: v.optional(v.string()),
  content: v.optional(hidden(v.string())),
});

/** `GET /cloud_configs`, `/runtime_configs`, `/cpi_configs`: configs of one type, by an older form. */
export const typedConfig = open({
  name: v.nullish(v.string()),
  properties: doc(hidden(v.string()), "YAML"),
  created_at: v.nullish(v.string()),
});
const name = v.optional(doc(v.string(), "default: `default`"));
export const typedConfigsQuery = open({ name, limit: v.optional(v.string()) });
export const typedConfigQuery = open({ name });
