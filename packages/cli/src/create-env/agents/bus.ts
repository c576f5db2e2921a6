import { agentEnvOf } from "@slipway/engine/steps/env";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import { certOf } from "../manifest/cloud-provider.ts";
import type { CloudProvider } from "../manifest/model.ts";

/**
 * How the agent of the VM is reached. `own`: with certificates and passwords of ours, both sides proven. `password`:
 * the manifest says where and with which password, certificates are ours. `manifest`: it has the certificates too.
 */
export type Bus =
  | { readonly kind: "own" }
  | { readonly kind: "password"; readonly url: URL }
  | { readonly kind: "manifest"; readonly url: URL; readonly ca: string };

export function busOf(provider: CloudProvider, env: JsonObject): Bus {
  const { mbus: url } = provider;
  if (url === undefined) return { kind: "own" };
  const ca = provider.cert?.ca ?? certOf(mbusIn(env).cert)?.ca;
  return ca === undefined ? { kind: "password", url } : { kind: "manifest", url, ca };
}

/** The env of the VM with everything its agent needs to listen there. What the manifest says itself stays. */
export function envWithBus(
  bus: Bus,
  provider: CloudProvider,
  env: JsonObject,
  networks: Networks,
): JsonObject {
  if (bus.kind === "own") return env;
  const given = mbusIn(env);
  const pair = provider.cert?.certificate === undefined ? undefined : ({ ...provider.cert } as JsonObject);
  const cert = given.cert ?? (bus.kind === "manifest" ? pair : undefined);
  const mbus = {
    ...given,
    ...(cert !== undefined && { cert }),
    ...(!isSaid(given.urls) &&
      !isSaid(agentSection(provider).mbus) && { urls: [listenUrl(bus.url, networks)] }),
  };
  return { ...env, bosh: { ...objectIn(env, "bosh"), mbus } };
}

/**
 * Returns the agent's settings besides its bus: the blobstore. It is beside the agent, filled over HTTPS, or the one that the
 * manifest has the CPI pass on. A remote blobstore in the form of a CPI's job is left to the CPI.
 */
export function agentEnvFor(provider: Pick<CloudProvider, "properties">): JsonObject {
  const told = objectIn(agentSection(provider), "blobstore");
  if (isSaid(told.provider)) return agentEnvOf({ blobstores: [told] });
  const { provider: kind = "local", path } = objectIn(provider.properties, "blobstore");
  if (kind !== "local") return {};
  const blobstore: JsonObject = { provider: "local", options: { blobstore_path: path as Json } };
  return agentEnvOf(isSaid(path) ? { blobstores: [blobstore] } : {});
}

/** On the address it is called by, if that is one of its own; behind a translation of addresses on all of them. */
function listenUrl(url: URL, networks: Networks): string {
  const here = Object.values(networks).some(({ ip, type }) => type !== "vip" && ip === url.hostname);
  const listen = new URL(url);
  if (!here) listen.hostname = "0.0.0.0";
  return listen.href.replace(/\/$/, "");
}

/** Returns the bus settings in a VM's record. Undefined if the VM was not made with an address of the manifest. */
export function madeWith(vm: {
  readonly env: JsonObject;
  readonly agentUrl: string;
}): { readonly url: URL; readonly ca: string | undefined } | undefined {
  const { urls, cert } = mbusIn(vm.env);
  const [first] = Array.isArray(urls) ? (urls as readonly Json[]) : [];
  if (typeof first !== "string" || !URL.canParse(first) || !URL.canParse(vm.agentUrl)) return undefined;
  const url = new URL(vm.agentUrl);
  const { username, password } = new URL(first);
  Object.assign(url, { username, password });
  return { url, ca: certOf(cert)?.ca };
}

export const mbusIn = (env: JsonObject): JsonObject => objectIn(objectIn(env, "bosh"), "mbus");

/** The CPI's own `agent` properties, which it merges into the settings of every agent. */
const agentSection = ({ properties }: Pick<CloudProvider, "properties">): JsonObject =>
  objectIn(properties, "agent");

const isSaid = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

function objectIn(map: JsonObject, key: string): JsonObject {
  const value = Object.hasOwn(map, key) ? map[key] : undefined;
  return isObject(value) ? (value as JsonObject) : {};
}
