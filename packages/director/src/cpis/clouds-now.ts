import type { Clouds } from "@slipway/engine/clouds/cloud";
import type { ConfiguredClouds, UnusableCpi } from "@slipway/engine/clouds/configured-clouds";
import type { ConfiguredCpi } from "@slipway/engine/manifest/cpi-config";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import { VariableMissing } from "@slipway/engine/variables/errors";
import { type Get, refuseRelativeNames, resolveVariables } from "@slipway/engine/variables/resolve";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Documents } from "../documents/documents.ts";
import type { Db } from "../store/schema.ts";
import { FetchFailed } from "../variables/errors.ts";
import { configuredCpis } from "./configured.ts";

interface Given {
  readonly db: Db;
  readonly documents: Documents;
  readonly clouds: ConfiguredClouds;
  readonly variables: ConfigServer;
  readonly director: string;
  readonly signal: AbortSignal;
}

/** Returns the CPIs as the CPI configs have them now. The caller keeps them, whatever is uploaded meanwhile. */
export async function cloudsNow(given: Given): Promise<Clouds> {
  const cpis = await configuredCpis(given);
  const get = getter(given);
  return given.clouds.of(await Promise.all(cpis.map((cpi) => withValues(cpi, get, given))));
}

async function withValues(
  cpi: ConfiguredCpi,
  get: Get,
  { director, signal }: Given,
): Promise<ConfiguredCpi | UnusableCpi> {
  try {
    return { ...cpi, properties: await propertiesWithValues(cpi.properties, { director, get }) };
  } catch (failure) {
    signal.throwIfAborted();
    return { name: cpi.name, migratedFrom: cpi.migratedFrom, failure };
  }
}

/** Properties hold the newest values of their variables, which have absolute names: they belong to no deployment. */
async function propertiesWithValues(
  properties: JsonObject,
  { director, get }: { readonly director: string; readonly get: Get },
): Promise<JsonObject> {
  await refuseRelativeNames(properties, () => true);
  const scope = { director, deployment: "" };
  return (await resolveVariables(properties, { scope, get })) as JsonObject;
}

/** Throws unless all variables of these CPIs have absolute names. */
export async function refuseRelativeVariables(cpis: readonly ConfiguredCpi[]): Promise<void> {
  await refuseRelativeNames(
    cpis.map(({ properties }) => properties),
    () => true,
  );
}

/** Throws unless the config server has a value for each variable of these CPIs. */
export async function refuseMissingVariables(
  cpis: readonly ConfiguredCpi[],
  { variables, director }: Pick<Given, "director"> & Pick<GetterOptions, "variables">,
): Promise<void> {
  const get = getter({ variables });
  for (const { properties } of cpis) await propertiesWithValues(properties, { director, get });
}

interface GetterOptions {
  readonly variables: Pick<ConfigServer, "newest">;
  readonly signal?: AbortSignal | undefined;
}

function getter({ variables, signal }: GetterOptions): Get {
  return async (name) => {
    try {
      return await variables.newest(name, signal);
    } catch (error) {
      if (VariableMissing.is(error) || FetchFailed.is(error)) return error;
      throw error;
    }
  };
}
