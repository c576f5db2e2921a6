import type { Clouds } from "@slipway/engine/clouds/cloud";
import { type CpiEntry, makeClouds } from "@slipway/engine/clouds/clouds";
import type { CpiPort } from "@slipway/engine/clouds/cpi-port";
import { embeddedCpiPort } from "@slipway/engine/clouds/embedded-cpi";
import { execCpiPort } from "@slipway/engine/clouds/exec-cpi";
import type { DirectorRegistry } from "@slipway/engine/clouds/registry-of-director";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { DirectorUuid } from "@slipway/protocol/ids";
import type { CloudProvider } from "./manifest/model.ts";

export interface EnvCloudOptions {
  readonly provider: CloudProvider;
  readonly directorUuid: string;
  /** Directory of the local CPI's sandboxes, and the agent it runs in them. */
  readonly local: { readonly dir: string; readonly agent: string };
  readonly registry: DirectorRegistry;
  readonly clock: Clock;
  readonly random: Random;
}

/** The one CPI of an environment, under the name of the only one. */
export async function openClouds(options: EnvCloudOptions): Promise<Clouds> {
  const { provider, random, registry } = options;
  const entry: CpiEntry = {
    name: "",
    port: await portOf(options),
    properties: provider.properties,
  };
  return makeClouds({
    cpis: [entry],
    directorUuid: options.directorUuid as DirectorUuid,
    random,
    registry,
  });
}

async function portOf(options: EnvCloudOptions): Promise<CpiPort> {
  const { cpi } = options.provider;
  if (cpi.kind === "release") throw new Error("bug: the CPI was not installed");
  return cpi.kind === "exec" ? execCpiPort({ ...cpi, clock: options.clock }) : await localCpiPort(options);
}

async function localCpiPort({ clock, local }: EnvCloudOptions) {
  const [{ cpiLocal }, { embed }] = await Promise.all([
    import("@slipway/cpi-local/cpi-local"),
    import("@slipway/cpi-sdk/embed"),
  ]);
  const config = { cloud: { properties: { local: { ...local } } } };
  return embeddedCpiPort({ name: "local", clock, open: (around) => embed(cpiLocal, { ...around, config }) });
}
