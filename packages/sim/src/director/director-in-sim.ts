import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { assemble } from "@slipway/director/assemble";
import { documentsHere } from "@slipway/director/documents/documents";
import type { Store } from "@slipway/director/store/open";
import type { TaskRunner } from "@slipway/director/tasks/runner";
import type { Agents } from "@slipway/engine/agents/agent";
import type { Blobs } from "@slipway/engine/blobs/blobs";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { ConfiguredClouds } from "@slipway/engine/clouds/configured-clouds";
import type { CpiPort } from "@slipway/engine/clouds/cpi-port";
import type { Journal } from "@slipway/engine/journal/journal";
import type { FlowSettings } from "@slipway/engine/steps/context";
import type { RenderPool } from "@slipway/engine/templates/request";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import type { Clock } from "@slipway/kernel/clock";
import { type Random, systemRandom } from "@slipway/kernel/random";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { DirectorUuid } from "@slipway/protocol/ids";
import { type AskSim, simAgents } from "../world/sim-agents.ts";
import type { SimNats } from "./sim-nats.ts";
import { simRenderPool } from "./sim-renderer.ts";
import { simSealer } from "./sim-sealer.ts";

/** Clients of a simulated world: its CPI and its agents. */
export interface SimClients {
  /** `of`: the type of a CPI config's CPI; undefined: the Director's own. */
  readonly cpi: (request: CpiRequest, of?: string) => Promise<CpiResponse>;
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
  readonly enableSnapshots?: boolean;
  /** True if instances have DNS names that agents receive. */
  readonly dns?: boolean;
  /** Agents of the Director. By default those of the world. */
  readonly agents?: Agents | undefined;
  /** Agents are on the bus; undefined: they are called. */
  readonly nats?: SimNats | undefined;
  readonly workers?: number;
  readonly flushMs?: number;
  readonly settings?:
    | Partial<
        Pick<FlowSettings, "keepUnreachableVms" | "agentEnvBosh" | "agentWaitMs" | "generateVmPasswords">
      >
    | undefined;
  /** Further ones of the Director's configuration. */
  readonly operations?: Partial<Parameters<typeof assemble>[0]["options"]> | undefined;
  /** Renderer of templates. The default costs nothing. */
  readonly renderer?: RenderPool | undefined;
  /** Undefined if there is no listener. */
  readonly tellMonitors?: Parameters<typeof assemble>[0]["tellMonitors"];
  readonly onError: (error: unknown) => void;
  /** Config server. By default the Director keeps variables itself. */
  readonly configServer?: ConfigServer | undefined;
  /** Put around the blobs: by drivers that let them fail. */
  readonly blobs?: ((blobs: Blobs) => Blobs) | undefined;
  /** Put around the journal: by drivers that watch or break it. */
  readonly journal?: (journal: Journal) => Journal;
}

/** CPI types that a CPI config may name: separate clouds in the same world. */
export const SIM_TYPES = ["sim-a", "sim-b"] as const;

const port = (command: string, call: (request: CpiRequest) => Promise<CpiResponse>): CpiPort => ({
  command,
  call: (request) => call(request),
});

/** Opens the blobs in a directory beside the uploads. */
export function blobsInSim(uploadsDir: string, random: Random = systemRandom): Blobs {
  const dir = join(uploadsDir, "..", "blobs");
  mkdirSync(dir, { recursive: true });
  return directoryBlobs({ dir, random });
}

/** The real Director's tasks, plans, flows and store, with a world for a cloud. */
export function directorInSim(options: SimDirectorOptions): TaskRunner {
  const { store, clients, clock, random, uploadsDir, onError, workers } = options;
  return assemble({
    db: store.db,
    documents: documentsHere,
    journal: options.journal,
    clouds: new ConfiguredClouds({
      own: { name: "", port: port("sim", clients.cpi) },
      programs: {
        byType: new Map(),
        paths: [],
        inProcess: new Map(SIM_TYPES.map((type) => [type, port(type, (one) => clients.cpi(one, type))])),
      },
      clock,
      directorUuid: "sim-director" as DirectorUuid,
      random,
    }),
    agents: options.agents ?? simAgents(clients.ask, clock, options.nats?.trust),
    nats: options.nats,
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
      ...options.settings,
    },
    options: {
      enableCpiResizeDisk: options.enableCpiResizeDisk ?? false,
      enableCpiUpdateDisk: options.enableCpiUpdateDisk ?? false,
      enableSnapshots: options.enableSnapshots,
      enableCpiNetworkManagement: true,
      ...options.operations,
    },
    uploadsDir,
    renderer: options.renderer ?? simRenderPool,
    keyedHash: simSealer.keyedHash,
    blobs: (options.blobs ?? ((blobs) => blobs))(blobsInSim(uploadsDir, random)),
    ...(options.dns === true && {
      dns: { enabled: true, domain: "bosh", useDnsAddresses: false, includeIndex: false },
    }),
    configServer: options.configServer,
    tellMonitors: options.tellMonitors,
    ownIps: [],
    workers,
    flushMs: options.flushMs,
    alone: true,
    onError,
  });
}
