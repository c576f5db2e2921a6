import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { type ApplySpec, hasJobs } from "@slipway/protocol/agent/apply-spec";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { usesDhcp } from "@slipway/protocol/settings/networks";
import type { Services } from "../services.ts";
import type { Action } from "./action.ts";
import { JobsNotSupported, NetworkUnknown } from "./errors.ts";

/** Takes over a specification: its networks resolved, stored, and told to the programs on the VM. */
export const apply: Action<"apply"> = async ({ spec }, { services }) => {
  refuseJobs(spec);
  const networks = await resolvedNetworks(spec, services);
  const resolved: ApplySpec = { ...spec, networks };
  await services.spec.save(resolved);
  await writeInstanceFiles(resolved, services);
  return "applied";
};

export function refuseJobs(spec: ApplySpec): void {
  if (!hasJobs(spec)) return;
  throw JobsNotSupported({ jobs: (spec.job?.templates ?? []).map((job) => job.name).join(", ") });
}

/** Every network must be one the VM was created with. Only dynamic ones are filled in; the rest stays as it came. */
async function resolvedNetworks(spec: ApplySpec, services: Services): Promise<Record<string, JsonObject>> {
  const known = services.settings.current().networks ?? {};
  const resolved: Record<string, JsonObject> = {};
  for (const [name, network] of Object.entries(spec.networks ?? {})) {
    const local = name === "local" && network.ip === "127.0.0.1";
    const own = Object.hasOwn(known, name) ? known[name] : undefined;
    if (own === undefined && !local) throw NetworkUnknown({ name });
    resolved[name] = own !== undefined && usesDhcp(own) ? { ...network, ...(await live(services)) } : network;
  }
  return resolved;
}

async function live(services: Services): Promise<JsonObject> {
  const found = await services.platform.networks.live();
  return found === undefined ? {} : { ip: found.ip, netmask: found.netmask, gateway: found.gateway };
}

async function writeInstanceFiles(spec: ApplySpec, services: Services): Promise<void> {
  const dir = services.paths.instanceDir;
  await mkdir(dir, { recursive: true, mode: 0o755 });
  for (const key of ["id", "az", "name", "deployment"] as const) {
    await writeFileAtomic(join(dir, key), spec[key] ?? "", 0o644);
  }
}
