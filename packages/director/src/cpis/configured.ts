import { problemsError } from "@slipway/engine/documents/problems";
import { type ConfiguredCpi, parseCpiConfig } from "@slipway/engine/manifest/cpi-config";
import { isObject } from "@slipway/protocol/schema/json";
import type { Documents } from "../documents/documents.ts";
import { listConfigs } from "../store/configs.ts";
import type { Db } from "../store/schema.ts";

interface Where {
  readonly db: Db;
  readonly documents: Documents;
}

/**
 * What all current CPI configs name; empty: the Director's own CPI does everything. `instead`: content that a config is
 * about to have.
 */
export async function configuredCpis(
  { db, documents }: Where,
  instead?: { readonly name: string; readonly content: string },
): Promise<readonly ConfiguredCpi[]> {
  const stored = (await listConfigs(db, { type: "cpi", limit: 1 })).filter(
    ({ name }) => name !== instead?.name,
  );
  const read = (text: string, name: string) => documents.ask("value", { text, what: `cpi config '${name}'` });
  const values = await Promise.all(stored.map(({ content, name }) => read(content, name)));
  const added = instead === undefined ? [] : [await read(instead.content, instead.name)];
  const parsed = parseCpiConfig([...values.filter(namesAny), ...added]);
  if (!parsed.ok) throw problemsError("the CPI config cannot be used", parsed.problems);
  return parsed.cpis;
}

/** Directors of before took a config without any. */
const namesAny = (value: unknown): boolean =>
  !isObject(value) || (value.cpis !== undefined && value.cpis !== null);
