import { parseStrictJson } from "@slipway/kernel/strict-json";
import { deployContext } from "@slipway/protocol/director/diff";
import { check } from "@slipway/protocol/schema/check";
import { findConfigs, listConfigs } from "../store/configs.ts";
import type { Db } from "../store/schema.ts";
import { BadDeployContext } from "./refusals.ts";

/** The configs a deploy is made with: what the diff showed is what is deployed. */
export interface ConfigIds {
  readonly cloud_config_ids: number[];
  readonly runtime_config_ids: number[];
}

/** Returns the current config of each name that belongs to no team or to one of these teams. */
export async function currentConfigs(db: Db, teams: readonly string[]): Promise<ConfigIds> {
  const idsOf = async (type: string) =>
    (await listConfigs(db, { type, limit: 1, teams })).map(({ id }) => id);
  return { cloud_config_ids: await idsOf("cloud"), runtime_config_ids: await idsOf("runtime") };
}

/**
 * Returns the configs of the `context` that a diff has handed out. Throws error 190025 for invalid ids and for another team's.
 */
export async function contextConfigs(
  db: Db,
  text: string | undefined,
  teams: readonly string[],
): Promise<ConfigIds> {
  if (text === undefined) return currentConfigs(db, teams);
  const checked = check(deployContext, parsed(text), "context");
  if (!checked.ok) throw bad(checked.problems.join("; "));
  const wanted: ConfigIds = {
    cloud_config_ids: [...(checked.value.cloud_config_ids ?? [])],
    runtime_config_ids: [...(checked.value.runtime_config_ids ?? [])],
  };
  await mustExist(db, wanted.cloud_config_ids, "cloud", teams);
  await mustExist(db, wanted.runtime_config_ids, "runtime", teams);
  return wanted;
}

function parsed(text: string): unknown {
  try {
    return parseStrictJson(text, "context");
  } catch (cause) {
    throw bad((cause as Error).message);
  }
}

async function mustExist(
  db: Db,
  wanted: readonly number[],
  type: string,
  teams: readonly string[],
): Promise<void> {
  const configs = (await findConfigs(db, wanted)).filter((one) => one.type === type);
  const found = new Set(
    configs.filter(({ team }) => team === null || teams.includes(team)).map(({ id }) => id),
  );
  const missing = wanted.filter((id) => !found.has(id));
  if (missing.length > 0) throw bad(`there is no ${type} config with the id ${missing.join(", ")}`);
}

const bad = (why: string) => BadDeployContext({ why });
