import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import type { AgentId } from "@slipway/protocol/ids";
import type { WatchedVm } from "../../store/health.ts";
import type { AgentReport, Known, Watched } from "../model.ts";

export const LIMITS = { intervalMs: 30_000, silentMs: 60_000 };

export const vmOf = (name: string, more: Partial<WatchedVm> = {}): WatchedVm => ({
  cid: `vm-${name}`,
  agentId: `agent-${name}` as AgentId,
  agentUrl: "https://10.0.0.2:6868",
  certificateUntil: null,
  disk: undefined,
  ...more,
});

/** web/0 of shop, as it should be. */
export const watchedOf = (more: Partial<Watched> = {}): Watched => ({
  deployment: "shop",
  uuid: "web-0" as InstanceUuid,
  group: "web" as GroupName,
  index: 0,
  state: "started",
  ignore: false,
  errand: false,
  paused: false,
  updateCompleted: true,
  deployed: true,
  vm: vmOf("web-0"),
  resurrection: undefined,
  ...more,
});

export const reportOf = (more: Partial<AgentReport> = {}): AgentReport => ({
  jobState: "running",
  processes: [],
  mounted: undefined,
  readOnly: false,
  vitals: { disk: {} },
  ...more,
});

/** An agent that answered at `awake`. */
export const answeredAt = (awake: number, report: Partial<AgentReport> = {}): Known => ({
  watchedSince: 0,
  watchedAt: 1_000_000,
  answered: { awake, at: 1_000_000 + awake, report: reportOf(report) },
});

/** Returns what is known once the agent did not answer any more. */
export const silentFrom = (known: Known, awake: number, times: number): Known => ({
  ...known,
  failed: { awake, at: 1_000_000 + awake, times, why: "nobody takes the connection" },
});
