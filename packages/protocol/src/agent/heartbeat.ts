import * as v from "valibot";
import { open } from "../schema/json.ts";

/** `read_only` is ours: the kernel has made its file system so, after an error. */
const percentages = open({
  percent: v.string(),
  inode_percent: v.string(),
  read_only: v.optional(v.boolean()),
});

/** Strings with fixed decimals, but for the uptime. */
export const vitals = open({
  cpu: open({ sys: v.string(), user: v.string(), wait: v.string() }),
  load: v.array(v.string()),
  mem: open({ kb: v.string(), percent: v.string() }),
  swap: open({ kb: v.string(), percent: v.string() }),
  uptime: open({ secs: v.number() }),
  disk: open({
    system: v.optional(percentages),
    ephemeral: v.optional(percentages),
    persistent: v.optional(percentages),
  }),
});
export type Vitals = v.InferOutput<typeof vitals>;

export const heartbeat = open({
  deployment: v.nullable(v.string()),
  job: v.nullable(v.string()),
  index: v.nullable(v.number()),
  job_state: v.string(),
  node_id: v.string(),
  number_of_processes: v.nullable(v.number()),
  vitals,
});
export type Heartbeat = v.InferOutput<typeof heartbeat>;

export const alert = open({
  id: v.string(),
  severity: v.number(),
  title: v.string(),
  summary: v.string(),
  created_at: v.number(),
});
export type Alert = v.InferOutput<typeof alert>;

export const HEARTBEAT_SECONDS = 30;
