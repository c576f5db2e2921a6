import type { Clouds } from "@slipway/engine/clouds/cloud";
import type { ConfiguredClouds, UnusableCpi } from "@slipway/engine/clouds/configured-clouds";
import { type ConfiguredCpi, type WrittenCpi, withProperties } from "@slipway/engine/manifest/cpi-config";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import { VariableMissing } from "@slipway/engine/variables/errors";
import { type Get, refuseRelativeNames, resolveVariables } from "@slipway/engine/variables/resolve";
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
  cpi: WrittenCpi,
  get: Get,
  { director, signal }: Given,
): Promise<ConfiguredCpi | UnusableCpi> {
  try {
    return await cpiWithValues(cpi, { director, get });
  } catch (failure) {
    signal.throwIfAborted();
    return { name: cpi.name, migratedFrom: cpi.migratedFrom, failure };
  }
}

/** Properties hold the newest values of their variables, which have absolute names: they belong to no deployment. */
async function cpiWithValues(
  cpi: WrittenCpi,
  { director, get }: { readonly director: string; readonly get: Get },
): Promise<ConfiguredCpi> {
  await refuseRelativeNames(cpi.properties, () => true);
  const scope = { director, deployment: "" };
  return withProperties(cpi, await resolveVariables(cpi.properties, { scope, get }));
}

/** Throws unless all variables of these CPIs have absolute names. */
export async function refuseRelativeVariables(cpis: readonly WrittenCpi[]): Promise<void> {
  await refuseRelativeNames(
    cpis.map(({ properties }) => properties),
    () => true,
  );
}

/** Throws unless the config server has a value for each variable of these CPIs. */
export async function refuseMissingVariables(
  cpis: readonly WrittenCpi[],
  { variables, director }: Pick<Given, "director"> & Pick<GetterOptions, "variables">,
): Promise<void> {
  const get = getter({ variables });
  for (const cpi of cpis) await cpiWithValues(cpi, { director, get });
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
