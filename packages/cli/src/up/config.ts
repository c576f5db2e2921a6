import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Acceptable } from "@slipway/director/start/identity";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { ifThere } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { check } from "@slipway/protocol/schema/check";
import { text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Home } from "../home/home.ts";
import { BothConfigs, ConfigGone, ConfigNoteUnreadable, OtherConfig, StateDirGiven } from "./errors.ts";
import { type AgentTransportName, withNats } from "./nats.ts";
import { choosePort, mustBeFree } from "./port.ts";

export interface UpOptions extends AskedConfig {
  readonly port: number | undefined;
  /** Settings that the operator has changed on purpose, for the Director. */
  readonly accept?: readonly Acceptable[];
  /** How agents of new VMs are reached; undefined: as the last time. */
  readonly transport?: AgentTransportName | undefined;
}

/** The Director's configuration, with a port that is free. Asked before anything is started. */
export async function chooseConfig(options: UpOptions, home: Home, random: Random): Promise<DirectorConfig> {
  const { readConfig } = await import("@slipway/director/start/configuration");
  const path = await configOf(options, home);
  const config = await readConfig(path);
  if (path !== undefined && config.state_dir !== undefined) throw StateDirGiven({ path });
  const port = await choosePort(home, options.port, config.listen?.port);
  await mustBeFree(config.listen?.host ?? "127.0.0.1", port);
  return await withNats({ ...config, listen: { ...config.listen, port } }, options.transport, home, random);
}

/** Configuration that a caller asks for. */
export interface AskedConfig {
  /** Path of the Director's configuration file; undefined: the remembered one. */
  readonly config: string | undefined;
  /** Starts without a configuration, and forgets the remembered one. */
  readonly noConfig?: boolean;
  /** Another file than the remembered one takes its place. */
  readonly acceptConfig?: boolean;
}

const remembered = v.strictObject({ path: text("path") });

const fileOf = (home: Home): string => join(home.dir, "config.json");

/**
 * Returns the configuration file that belongs to a home: the remembered one, or the first one that is given. Another one is
 * refused while the remembered file is there. Undefined for a home that never had one.
 */
export async function configOf(asked: AskedConfig, home: Home): Promise<string | undefined> {
  if (asked.noConfig === true) {
    if (asked.config !== undefined) throw BothConfigs({});
    return undefined;
  }
  const has = await rememberedConfig(home);
  const path = asked.config === undefined ? undefined : resolve(asked.config);
  if (has === undefined) return path;
  if (path === undefined) {
    if (!existsSync(has)) throw ConfigGone({ dir: home.dir, path: has });
    return has;
  }
  if (path !== has && asked.acceptConfig !== true && existsSync(has))
    throw OtherConfig({ dir: home.dir, has, asked: path });
  return path;
}

export async function rememberedConfig(home: Home): Promise<string | undefined> {
  const file = fileOf(home);
  const source = await ifThere(readFile(file, "utf8"));
  if (source === undefined) return undefined;
  let document: unknown;
  try {
    document = parseStrictJson(source, file);
  } catch (cause) {
    throw ConfigNoteUnreadable({ path: file }, { cause });
  }
  const checked = check(remembered, document, "config");
  if (!checked.ok) throw ConfigNoteUnreadable({ path: file });
  return checked.value.path;
}

export async function rememberConfig(home: Home, path: string | undefined): Promise<void> {
  if (path === undefined) await rm(fileOf(home), { force: true });
  else await writeFileAtomic(fileOf(home), `${JSON.stringify({ path })}\n`);
}
