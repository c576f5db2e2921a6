import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type Network, usesDhcp } from "@slipway/protocol/settings/networks";
import { applyJobs, writeInstanceFiles } from "../jobs/switch.ts";
import type { AgentServices } from "../services.ts";
import type { Action } from "./action.ts";
import { NetworkUnknown } from "./errors.ts";

/**
 * Takes over a specification: its networks resolved, its jobs and packages in place of those before, stored, and passed to
 * the programs on the VM. Without a configuration hash it is the first, partial one, which changes no jobs.
 */
export const apply: Action<"apply"> = async ({ spec }, { services, signal }) => {
  const resolved: ApplySpec = { ...spec, networks: await resolvedNetworks(spec, services) };
  if (resolved.configuration_hash) await applyJobs(resolved, services, signal);
  else {
    await writeInstanceFiles(resolved, services);
    await services.spec.save(resolved);
  }
  return "applied";
};

/** Every network must be one the VM was created with. Only dynamic ones are filled in; the rest stays as it came. */
async function resolvedNetworks(
  spec: ApplySpec,
  services: AgentServices,
): Promise<Record<string, JsonObject>> {
  const known = services.settings.current().networks ?? {};
  const resolved: Record<string, JsonObject> = {};
  for (const [name, network] of Object.entries(spec.networks ?? {})) {
    const local = name === "local" && network.ip === "127.0.0.1";
    const own = Object.hasOwn(known, name) ? known[name] : undefined;
    if (own === undefined && !local) throw NetworkUnknown({ name });
    const dhcp = own !== undefined && usesDhcp(own);
    resolved[name] = dhcp ? { ...network, ...(await addressOf(own, services)) } : network;
  }
  return resolved;
}

/**
 * Takes the address of a preconfigured interface from its settings: the default route may use another interface.
 * Otherwise asks the machine.
 */
async function addressOf(own: Network, services: AgentServices): Promise<JsonObject> {
  if (own.preconfigured === true && own.ip)
    return { ip: own.ip, netmask: own.netmask ?? "", gateway: own.gateway ?? "" };
  const found = await services.platform.networks.live();
  return found === undefined ? {} : { ip: found.ip, netmask: found.netmask, gateway: found.gateway };
}
