import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

const text = v.nullish(v.string());
const number = v.nullish(v.number());

const percent = v.optional(v.number());

/** Vitals from the agent's last reply: the load, and all else in percent. Values missing there are left out. */
export const instanceVitals = open({
  cpu: percent,
  load: v.optional(doc(v.number(), "of the last minute")),
  memory: percent,
  swap: percent,
  disk: open({ system: percent, ephemeral: percent, persistent: percent }),
});

/** An instance, and what is wrong with it. */
export const instanceHealth = open({
  deployment: v.string(),
  instance_group: v.string(),
  index: v.number(),
  id: v.string(),
  state: doc(v.string(), "desired: `started`, `stopped` or `detached`"),
  health: doc(
    v.string(),
    "`healthy`, `unresponsive`, `no_vm`, `refused`, `disk_not_mounted`, `disk_read_only`, `failing`, `unfinished`, `ignored`, `detached`, `idle` or `unknown`",
  ),
  since: v.nullish(doc(v.string(), "`2026-01-31T12:00:00Z`; of one that is unresponsive: its last answer")),
  problems: doc(v.array(v.string()), "what is wrong, the worst first"),
  action: v.nullish(doc(v.string(), "what is being done, or why nothing is")),
  task: v.nullish(doc(v.number(), "that replaces its VM")),
  vm_cid: text,
  agent_id: text,
  agent_url: text,
  last_contact: v.nullish(
    doc(v.string(), "when its agent answered last; null: not since the Director started"),
  ),
  certificate_until: v.nullish(doc(v.string(), "when its agent's certificate ends")),
  resurrection_paused: v.nullish(v.boolean()),
  job_state: v.optional(doc(v.string(), "with `full`: what its agent said last of all processes")),
  processes: v.optional(doc(v.array(open({ name: v.string(), state: v.string() })), "with `full`")),
  vitals: v.optional(doc(instanceVitals, "with `full`")),
});
export type InstanceHealth = v.InferOutput<typeof instanceHealth>;

/** `GET /health`, ours: the fleet, as the last round of the Director's health monitor has found it. */
export const health = open({
  enabled: doc(v.boolean(), "false: by configuration nobody is watched"),
  at: v.nullish(doc(v.string(), "of the last round; null: there was none yet")),
  interval_s: number,
  unresponsive_after_s: number,
  resurrection: open({
    enabled: doc(
      v.boolean(),
      "VMs are replaced, as far as the Director's configuration and `update-resurrection` go",
    ),
    held: v.nullish(doc(v.string(), "why none is replaced at present")),
  }),
  upkeep: v.nullish(
    doc(v.array(v.string()), "what is not done yet: authorities and certificates, and whose they are"),
  ),
  instances: v.array(instanceHealth),
});
export type Health = v.InferOutput<typeof health>;

export const healthQuery = open({
  deployment: v.optional(doc(v.string(), "only its instances")),
  full: v.optional(doc(v.string(), "`true`: also processes and vitals, as agents told them last")),
});
