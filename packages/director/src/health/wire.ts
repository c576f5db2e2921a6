import type { health } from "@slipway/protocol/director/health";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import type { HealthSnapshot, InstanceHealth } from "./snapshot.ts";
import type { UpkeepNote } from "./upkeep.ts";

export type HealthWire = ReplyOf<typeof health>;

/** Returns the answer without a health monitor, or before its first round. */
export const unwatched = (enabled: boolean): HealthWire => ({
  enabled,
  at: null,
  interval_s: null,
  unresponsive_after_s: null,
  resurrection: { enabled: false, held: null },
  upkeep: [],
  instances: [],
});

export interface HealthAsked {
  readonly deployment: string | undefined;
  /** True to include processes and vitals. */
  readonly full: boolean;
}

export const healthWire = (snapshot: HealthSnapshot, { deployment, full }: HealthAsked): HealthWire => ({
  enabled: true,
  at: time(snapshot.at),
  interval_s: snapshot.settings.limits.intervalMs / 1000,
  unresponsive_after_s: snapshot.settings.limits.silentMs / 1000,
  resurrection: {
    enabled: snapshot.settings.resurrects && !snapshot.paused,
    held: snapshot.held ?? null,
  },
  upkeep: snapshot.upkeep.map(upkeepText),
  instances: snapshot.instances
    .filter(({ watched }) => deployment === undefined || watched.deployment === deployment)
    .map((one) => (full ? { ...instanceWire(one), ...saidWire(one) } : instanceWire(one))),
});

const MOST_NAMED = 10;

function upkeepText({ what, who }: UpkeepNote): string {
  if (who.length === 0) return what;
  const more = who.length - MOST_NAMED;
  return `${what}: ${who.slice(0, MOST_NAMED).join("; ")}${more > 0 ? `; ${more} more` : ""}`;
}

const instanceWire = ({ watched, verdict, since, known, action }: InstanceHealth) => ({
  deployment: watched.deployment,
  instance_group: watched.group,
  index: watched.index,
  id: watched.uuid,
  state: watched.state,
  health: verdict.status,
  since: time(since),
  problems: verdict.findings.map(({ what }) => what),
  action: action?.what ?? null,
  task: action?.task ?? null,
  vm_cid: watched.vm?.cid ?? null,
  agent_id: watched.vm?.agentId ?? null,
  agent_url: watched.vm?.agentUrl ?? null,
  last_contact: time(known?.answered?.at),
  certificate_until: time(watched.vm?.certificateUntil ?? undefined),
  resurrection_paused: watched.paused,
});

/** Returns the last report of the agent. */
function saidWire({ known }: InstanceHealth) {
  const report = known?.answered?.report;
  if (report === undefined) return {};
  const { cpu, load, memory, swap, disk } = report.vitals;
  return {
    job_state: report.jobState,
    processes: report.processes,
    vitals: defined({ cpu, load, memory, swap, disk }),
  };
}

/** Leaves out unknown values. */
const defined = <T extends object>(all: T): T =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as T;

const time = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
