import { problemsError } from "@slipway/engine/documents/problems";
import { parseCpiConfig, type WrittenCpi } from "@slipway/engine/manifest/cpi-config";
import { isObject } from "@slipway/protocol/schema/json";
import type { Documents } from "../documents/documents.ts";
import { listConfigs } from "../store/configs.ts";
import type { Db } from "../store/schema.ts";

interface Where {
  readonly db: Db;
  readonly documents: Documents;
}

/**
 * Returns the CPIs that all current CPI configs name. If empty, the Director's own CPI does everything. `instead` is the content
 * that a config is about to have.
 */
export async function configuredCpis(
  where: Where,
  instead?: { readonly name: string; readonly content: string },
): Promise<readonly WrittenCpi[]> {
  const values = await cpiConfigs(where, instead?.name);
  const added = instead === undefined ? [] : [await read(instead, where)];
  const parsed = parseCpiConfig([...values.filter(namesAny), ...added]);
  if (!parsed.ok) throw problemsError("the CPI config cannot be used", parsed.problems);
  return parsed.cpis;
}

/** CPIs that the content of one config names. */
export async function cpisIn(
  config: { readonly name: string; readonly content: string },
  where: Where,
): Promise<readonly WrittenCpi[]> {
  const parsed = parseCpiConfig([await read(config, where)]);
  return parsed.ok ? parsed.cpis : [];
}

/** Returns the CPI configs as they are written, except the one named `but`. */
export async function cpiConfigs(where: Where, but?: string): Promise<readonly unknown[]> {
  const stored = await listConfigs(where.db, { type: "cpi", limit: 1 });
  return await Promise.all(stored.filter(({ name }) => name !== but).map((one) => read(one, where)));
}

const read = (
  { name, content }: { readonly name: string; readonly content: string },
  { documents }: Where,
): Promise<unknown> => documents.ask("value", { text: content, what: `cpi config '${name}'` });

/** Directors of before took a config without any. */
const namesAny = (value: unknown): boolean =>
  !isObject(value) || (value.cpis !== undefined && value.cpis !== null);
