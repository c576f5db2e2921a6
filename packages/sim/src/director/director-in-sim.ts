import { assemble } from "@slipway/director/assemble";
import type { Store } from "@slipway/director/store/open";
import type { TaskRunner } from "@slipway/director/tasks/runner";
import { makeClouds } from "@slipway/engine/clouds/clouds";
import type { Journal } from "@slipway/engine/journal/journal";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { DirectorUuid } from "@slipway/protocol/ids";
import { type AskSim, simAgents } from "../world/sim-agents.ts";

/** Clients of a simulated world: its CPI and its agents. */
export interface SimClients {
  readonly cpi: (request: CpiRequest) => Promise<CpiResponse>;
  readonly ask: AskSim;
}

export interface SimDirectorOptions {
  readonly store: Store;
  readonly clients: SimClients;
  readonly clock: Clock;
  readonly random: Random;
  readonly uploadsDir: string;
  readonly enableCpiResizeDisk?: boolean;
  readonly enableCpiUpdateDisk?: boolean;
  readonly workers?: number;
  readonly onError: (error: unknown) => void;
  /** Put around the journal: by drivers that watch or break it. */
  readonly journal?: (journal: Journal) => Journal;
}

/** The real Director's tasks, plans, flows and store, with a world for a cloud. */
export function directorInSim(options: SimDirectorOptions): TaskRunner {
  const { store, clients, clock, random, uploadsDir, onError, workers } = options;
  return assemble({
    db: store.db,
    journal: options.journal,
    clouds: makeClouds({
      cpis: [{ name: "", port: { command: "sim", call: (request) => clients.cpi(request) } }],
      directorUuid: "sim-director" as DirectorUuid,
      random,
    }),
    agents: simAgents(clients.ask, clock),
    clock,
    random,
    settings: {
      directorName: "sim",
      directorUuid: "sim-director",
      agentEnvBosh: {},
      agentWaitMs: 10_000,
      maxVmCreateTries: 5,
      keepUnreachableVms: false,
      stopTimeoutMs: 10_000,
    },
    options: {
      enableCpiResizeDisk: options.enableCpiResizeDisk ?? false,
      enableCpiUpdateDisk: options.enableCpiUpdateDisk ?? false,
    },
    uploadsDir,
    ownIps: [],
    workers,
    alone: true,
    onError,
  });
}
