import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { CONTEXT_KEYS } from "@slipway/protocol/cpi/context";
import type { ConfiguredCpi, WrittenCpi } from "../manifest/cpi-config.ts";
import type { CpiName } from "../model/names.ts";
import type { Cloud, Clouds } from "./cloud.ts";
import { type CloudsOptions, type CpiEntry, cloudsOf } from "./clouds.ts";
import { cpiCloud } from "./cpi-cloud.ts";
import type { CpiPort } from "./cpi-port.ts";
import { ShownDialect } from "./cpi-session.ts";
import { BadCpiProperties, CpiProgramRefused, OwnCpiProperties } from "./errors.ts";
import { execCpiPort } from "./exec-cpi.ts";
import type { StartProcess } from "./started-process.ts";

/** The programs that a CPI config may name: it is changed over the API, they are not. */
export interface CpiPrograms {
  /** Executables by type, of the Director's configuration. */
  readonly byType: ReadonlyMap<string, string>;
  /** Others of it: the Director's own. */
  readonly paths: readonly string[];
  /** Environment of all executables, beside what each of them has. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** CPIs in this process by type: the Director's own, where it is one. */
  readonly inProcess: ReadonlyMap<string, CpiPort>;
}

export interface ConfiguredCloudsOptions extends CloudsOptions {
  /** The Director's own CPI: the only one while there is no CPI config, and `''` in the records. */
  readonly own: CpiEntry;
  readonly programs: CpiPrograms;
  readonly clock: Clock;
  /** Starts executables; default: as children of this process. */
  readonly start?: StartProcess | undefined;
}

/** The values of its variables could not be had. */
export interface UnusableCpi extends Pick<ConfiguredCpi, "name" | "migratedFrom"> {
  readonly failure: unknown;
}

/**
 * The CPIs of a Director, whatever its CPI config says at the time. Each task is given clouds of its own and keeps them:
 * it asks each CPI for its `info` once, since a program that starts another one can change its version unnoticed. The
 * dialect that a CPI has shown is remembered for as long as its entry stays as it is.
 */
export class ConfiguredClouds {
  readonly #options: ConfiguredCloudsOptions;
  readonly #ownDialect = new ShownDialect();
  #dialects: ReadonlyMap<string, ShownDialect> = new Map();

  constructor(options: ConfiguredCloudsOptions) {
    this.#options = options;
    // Fails at the start if the Director's own CPI cannot be used.
    this.#own();
  }

  #own(): Cloud {
    return cpiCloud({ ...this.#options, ...this.#options.own, dialect: this.#ownDialect });
  }

  /** Throws what keeps an entry from being used. Its properties may still hold placeholders. */
  check(cpi: WrittenCpi): void {
    const { properties } = cpi;
    // A variable that stands for all properties may have any of them.
    this.#entry({ ...cpi, properties: typeof properties === "string" ? { [properties]: null } : properties });
  }

  /**
   * Returns the CPIs of a CPI config. An empty list means the Director's own CPI. An unusable entry does not affect the others.
   */
  of(cpis: readonly (ConfiguredCpi | UnusableCpi)[]): Clouds {
    if (cpis.length === 0)
      return cloudsOf({ byName: new Map([["", this.#own()]]), names: [""], configured: false });
    const dialects = new Map<string, ShownDialect>();
    const byName = new Map<CpiName, Cloud>([["", this.#own()]]);
    const refused = new Map<CpiName, unknown>();
    for (const cpi of cpis) {
      try {
        if ("failure" in cpi) throw cpi.failure;
        const mark = markOf(cpi);
        const dialect = this.#dialects.get(mark) ?? new ShownDialect();
        byName.set(cpi.name, cpiCloud({ ...this.#options, ...this.#entry(cpi), dialect }));
        dialects.set(mark, dialect);
      } catch (error) {
        refused.set(cpi.name, error);
      }
    }
    this.#dialects = dialects;
    const names = cpis.map(({ name }) => name);
    const renamed = new Map(cpis.flatMap((cpi) => cpi.migratedFrom.map((before) => [before, cpi.name])));
    const clouds = cloudsOf({ byName, names, configured: true, renamed });
    return {
      ...clouds,
      cloud: (name) => {
        if (refused.has(clouds.nameOf(name))) throw refused.get(clouds.nameOf(name));
        return clouds.cloud(name);
      },
    };
  }

  #entry(cpi: ConfiguredCpi): CpiEntry {
    const { name, properties } = cpi;
    const taken = CONTEXT_KEYS.filter((key) => Object.hasOwn(properties, key));
    if (taken.length > 0) throw BadCpiProperties({ name, keys: taken });
    return { name, port: this.#portOf(cpi), properties, longestMs: this.#options.own.longestMs };
  }

  #portOf({ name, type, execPath, properties }: ConfiguredCpi): CpiPort {
    const { programs, clock, start } = this.#options;
    const here = execPath === undefined ? programs.inProcess.get(type) : undefined;
    // They could name directories and programs of the Director's machine.
    if (here !== undefined && Object.keys(properties).length > 0) throw OwnCpiProperties({ name, type });
    if (here !== undefined) return here;
    const path = execPath ?? programs.byType.get(type) ?? placeOf(type);
    if (!isAllowed(path, programs)) throw CpiProgramRefused({ name, path });
    return execCpiPort({ path, env: programs.env, clock, start });
  }
}

/** Returns the path of an executable as upstream's jobs install it. A user who can write there needs no CPI config. */
const placeOf = (type: string): string => `/var/vcap/jobs/${type}_cpi/bin/cpi`;
const PLACES = /^\/var\/vcap\/jobs\/[\w.-]+\/bin\/cpi$/;

const isAllowed = (path: string, { byType, paths }: CpiPrograms): boolean =>
  [...byType.values(), ...paths].includes(path) || (PLACES.test(path) && posix.normalize(path) === path);

/** The same for the same program, properties and name. */
const markOf = ({ name, type, execPath, properties }: ConfiguredCpi): string =>
  createHash("sha256")
    .update(JSON.stringify([name, type, execPath, properties]))
    .digest("hex");
