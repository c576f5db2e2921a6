import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import { stemcellVersion } from "@slipway/protocol/cpi/context";
import type { CpiRequest } from "@slipway/protocol/cpi/envelope";
import type { Method } from "@slipway/protocol/cpi/method";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { AgentSection, RegistryOfAgents } from "./config.ts";
import type { Call, Cpi } from "./cpi.ts";
import type { Log } from "./log.ts";

/** One call under way: everything decided before the author's method runs. */
export interface RunningCall {
  readonly cpi: Cpi;
  readonly request: CpiRequest;
  readonly method: Method;
  readonly version: ApiVersion;
  /** Arguments by name, as the author gets them. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Disks sent as a draft dialect's extra argument, or in the context. */
  readonly disks: Disks | undefined;
  readonly registryless: boolean;
  /** The caller did not say what stemcell the VM has: read as 1, but it may be one that never had an entry. */
  readonly stemcellUnknown: boolean;
  /** Undefined in registry-less mixes, when none is configured, and for CPIs that keep the settings themselves. */
  readonly registry: RegistryOfAgents | undefined;
  readonly agent: AgentSection;
  readonly config: unknown;
  readonly stateDir: string | undefined;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

type Handler = (args: unknown, call: unknown) => unknown;

/** Bound to its record: an author's methods may call each other through `this`. */
export const handlerOf = (cpi: Cpi, key: string): Handler | undefined =>
  (cpi.methods as unknown as Readonly<Record<string, Handler | undefined>>)[key]?.bind(cpi.methods);

export function callOf(running: RunningCall): Call<unknown> {
  return {
    config: running.config,
    log: running.log,
    signal: running.signal,
    request: {
      directorUuid: running.request.context.director_uuid,
      requestId: running.request.context.request_id ?? undefined,
      apiVersion: running.version,
      stemcellApiVersion: stemcellVersion(running.request.context),
      disks: running.disks,
      context: running.request.context,
    },
  };
}
