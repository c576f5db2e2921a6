import { isIP } from "node:net";
import type { Network, Networks } from "@slipway/protocol/settings/networks";
import type { AgentAddress, TransportName } from "./agent.ts";
import { NoAgentAddress } from "./errors.ts";

const isDefaultFor = (network: Network, what: string): boolean => network.default?.includes(what) ?? false;

/** The address by which the Director reaches a VM: of its default network, else of the first that has one. */
export function reachableIp(networks: Networks): string | undefined {
  const usable = Object.values(networks).filter(
    (network) => network.type !== "vip" && network.ip !== undefined && isIP(network.ip) !== 0,
  );
  const preferred =
    usable.find((network) => isDefaultFor(network, "addressable")) ??
    usable.find((network) => isDefaultFor(network, "gateway")) ??
    usable[0];
  return preferred?.ip;
}

/** How the agent of a VM is reached whose record has this URL. */
export const transportOf = (agentUrl: string): TransportName =>
  agentUrl.startsWith("nats:") ? "nats" : "https";

export const urlOf = (ip: string, port: number): string => `https://${bracketed(ip)}:${port}`;

export const bracketed = (ip: string): string => (isIP(ip) === 6 ? `[${ip}]` : ip);

export function readAddress({ agentId, agentUrl }: AgentAddress): {
  readonly host: string;
  readonly port: number;
} {
  const invalid = (why: string) => NoAgentAddress({ agentId, why });
  if (agentUrl === "") throw invalid("none of the VM's networks has an address, and HTTPS needs one");
  const url = URL.canParse(agentUrl) ? new URL(agentUrl) : undefined;
  if (url?.protocol !== "https:" || url.hostname === "")
    throw invalid("its recorded address is not an https URL");
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port === "" ? 443 : Number(url.port) };
}
