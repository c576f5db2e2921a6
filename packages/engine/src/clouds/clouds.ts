import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { DirectorUuid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { CpiName } from "../model/names.ts";
import type { Cloud, Clouds } from "./cloud.ts";
import { cpiCloud } from "./cpi-cloud.ts";
import type { CpiPort } from "./cpi-port.ts";
import { UnknownCpi } from "./errors.ts";
import { execCpiPort } from "./exec-cpi.ts";
import type { DirectorRegistry } from "./registry-of-director.ts";
import type { StartProcess } from "./started-process.ts";

/** One CPI of a Director. `''` is the name of its own; a CPI config names others. */
export interface CpiEntry {
  readonly name: CpiName;
  readonly port: CpiPort;
  readonly properties?: JsonObject | undefined;
  /** Longest time of one call; default: by method. */
  readonly longestMs?: number | undefined;
}

/** Options shared by all CPIs of a Director. */
export interface CloudsOptions {
  readonly directorUuid: DirectorUuid;
  readonly random: Random;
  readonly maxApiVersion?: ApiVersion | undefined;
  readonly registry?: DirectorRegistry | undefined;
}

/** The CPIs of a program that has no CPI config. */
export function makeClouds({
  cpis,
  ...shared
}: CloudsOptions & { readonly cpis: readonly CpiEntry[] }): Clouds {
  const clouds = new Map(cpis.map((entry) => [entry.name, cpiCloud({ ...shared, ...entry })]));
  return cloudsOf({ byName: clouds, names: [...clouds.keys()], configured: false });
}

export interface KnownClouds {
  readonly byName: ReadonlyMap<CpiName, Cloud>;
  readonly names: readonly CpiName[];
  readonly configured: boolean;
  /** Names of before, and whose they are today. */
  readonly renamed?: ReadonlyMap<CpiName, CpiName>;
}

export function cloudsOf({ byName, names, configured, renamed = new Map() }: KnownClouds): Clouds {
  const nameOf = (recorded: CpiName) => renamed.get(recorded) ?? recorded;
  return {
    names,
    configured,
    nameOf,
    cloud: (name) => {
      const found = byName.get(nameOf(name));
      if (found === undefined) throw UnknownCpi({ name, known: names, configured });
      return found;
    },
  };
}

/** The part of a configuration that names the CPI. */
export interface CpiConfig {
  readonly cpi?:
    | {
        readonly exec_path?: string | undefined;
        readonly config_file?: string | undefined;
        readonly env?: Readonly<Record<string, string>> | undefined;
        readonly properties?: JsonObject | undefined;
        readonly deadline_s?: number | undefined;
      }
    | undefined;
}

/** The Director's own CPI: its executable, or the one in this process. */
export function cpiOfConfig(
  config: CpiConfig,
  given: {
    readonly clock: Clock;
    readonly embedded: () => CpiPort;
    readonly start?: StartProcess | undefined;
  },
): CpiEntry {
  const { clock, embedded, start } = given;
  const { exec_path: path, config_file: configFile, env, properties, deadline_s } = config.cpi ?? {};
  return {
    name: "",
    port: path === undefined ? embedded() : execCpiPort({ path, configFile, env, clock, start }),
    properties,
    longestMs: deadline_s === undefined ? undefined : deadline_s * 1000,
  };
}
