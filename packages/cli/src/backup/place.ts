import { existsSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Option, TypedInput } from "../command.ts";
import type { Home } from "../home/home.ts";
import type { Tools } from "../tools.ts";
import { rememberedConfig } from "../up/config.ts";

/** State to back up or restore: a home's, or that of a named directory. */
export interface BackupPlace {
  readonly stateDir: string;
  readonly config: DirectorConfig;
  /** File that `config` was read from. */
  readonly configPath: string | undefined;
  readonly home: Home | undefined;
}

export const placeOptions: readonly Option[] = [
  { flags: "--state-dir <path>", about: "of a slipway-director; default: the one of `slipway up`" },
  { flags: "--config <path>", about: "the Director's configuration, for its state_dir and database.url" },
  {
    flags: "--passphrase-file <path>",
    about: "encrypts the backup; SLIPWAY_BACKUP_PASSPHRASE does so too",
  },
];

/** Files of `slipway up` beside the state directory. */
const OF_HOME = ["cpi.json", "port", "nats.json", "config.json"];

export async function placeOf(given: TypedInput, { home }: Pick<Tools, "home">): Promise<BackupPlace> {
  const { readConfig } = await import("@slipway/director/start/configuration");
  const ofHome = given.text("state-dir") === undefined ? await rememberedConfig(home) : undefined;
  const configPath = given.text("config") ?? ofHome;
  const config = await readConfig(configPath);
  const named = given.text("state-dir") ?? config.state_dir;
  return {
    stateDir: named === undefined ? home.director : resolve(named),
    config,
    configPath,
    home: named === undefined ? home : undefined,
  };
}

/** Files that go along, by their names in the backup. */
export function besideOf({ home, configPath }: BackupPlace): Readonly<Record<string, string>> {
  const ofHome = OF_HOME.map((name) => [name, join(home?.dir ?? "", name)] as const);
  return {
    ...Object.fromEntries(home === undefined ? [] : ofHome.filter(([, path]) => existsSync(path))),
    ...(configPath !== undefined && { [`configuration${extname(configPath)}`]: configPath }),
  };
}

/**
 * Returns where a restore writes each of the files. The operator's configuration goes to the state directory, for reference
 * only.
 */
export function besideTargets({ home, stateDir }: BackupPlace): Readonly<Record<string, string>> {
  const ofHome = OF_HOME.map((name) => [name, join(home?.dir ?? "", name)] as const);
  const configs = ["", ".yml", ".yaml", ".json"].map((ext) => {
    const name = `configuration${ext}`;
    return [name, join(stateDir, name)] as const;
  });
  return Object.fromEntries([...(home === undefined ? [] : ofHome), ...configs]);
}
