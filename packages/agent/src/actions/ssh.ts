import type { JsonObject } from "@slipway/protocol/schema/json";
import { BadRequest } from "../errors.ts";
import type { AgentServices } from "../services.ts";
import type { Action } from "./action.ts";
import { NoDefaultIp } from "./errors.ts";

const SSH_PORT = 22;

export const ssh: Action<"ssh"> = async ({ command, params }, { services }) => {
  if (command === "setup") return await setUp(params, services);
  if (command === "cleanup") return await cleanUp(params, services);
  throw BadRequest({ why: "Unknown command for SSH method" });
};

interface Params {
  readonly user?: string | null | undefined;
  readonly public_key?: string | null | undefined;
  readonly user_regex?: string | null | undefined;
}

async function setUp({ user, public_key: key }: Params, services: AgentServices): Promise<JsonObject> {
  if (!user || !key) throw BadRequest({ why: "ssh setup needs a user and a public key" });
  const { system } = services.platform;
  const hostKey = await system.hostPublicKey();
  const ip = await defaultIp(services);
  const port = await system.createSshUser(user, key, ip);
  // Upstream's has none: its VMs have addresses of their own, and ssh's own port with them.
  const elsewhere = port === undefined || port === SSH_PORT ? {} : { port };
  return { command: "setup", status: "success", ip, host_public_key: hostKey, ...elsewhere };
}

async function cleanUp({ user_regex: pattern }: Params, services: AgentServices): Promise<JsonObject> {
  await services.platform.system.deleteSshUsers(regexOf(pattern ?? ""));
  return { command: "cleanup", status: "success" };
}

function regexOf(pattern: string): RegExp {
  if (pattern === "" || pattern.length > 200)
    throw BadRequest({ why: "user_regex must have 1 to 200 characters" });
  try {
    return new RegExp(pattern);
  } catch (cause) {
    throw BadRequest({ why: "user_regex is not a regular expression" }, { cause });
  }
}

/** The address of the default network, or what the machine has when that network is dynamic. */
async function defaultIp(services: AgentServices): Promise<string> {
  const networks = Object.values(services.settings.current().networks ?? {}).filter(
    (one) => one.type !== "vip",
  );
  const preferred =
    networks.find((one) => one.default?.includes("gateway")) ??
    (networks.length === 1 ? networks[0] : undefined);
  const ip = preferred?.ip ?? (await services.platform.networks.live())?.ip;
  if (!ip) throw NoDefaultIp({});
  return ip;
}
