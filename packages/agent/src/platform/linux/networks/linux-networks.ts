import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { type Exec, mustRun } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import { parseAddress, sameAddress } from "@slipway/kernel/ip-address";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { Log } from "../../../log.ts";
import type { Paths } from "../../../paths.ts";
import type { NetworkPlatform } from "../../platform.ts";
import { AddressesMissing, Ipv6Unavailable } from "../../system-errors.ts";
import { announce } from "./announce.ts";
import { configureDns } from "./dns.ts";
import { machineInterfaces } from "./interfaces.ts";
import { applyWithIp, withoutLease } from "./iproute.ts";
import { addressesFromOs, type LocalAddress, liveNetwork, localAddresses } from "./live.ts";
import { networkdRuns, reloadNetworkd, renderNetworkFiles, writeNetworkFiles } from "./networkd.ts";
import { type InterfacePlan, planNetworks, type StaticInterface } from "./plan.ts";

export interface NetworkTools {
  readonly paths: Paths;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Log;
  /** Addresses as this process sees them, without running anything. */
  readonly ownAddresses?: () => readonly LocalAddress[];
}

const POLL_MS = 250;

export function linuxNetworks(tools: NetworkTools): NetworkPlatform {
  const { paths, exec, log } = tools;
  return {
    configure: (networks, signal) => configure(networks, signal, tools),
    live: () => liveNetwork(paths, exec),
    deleteArpEntries: async (ips) => {
      for (const ip of ips) await deleteArpEntry(ip, exec, log);
    },
  };
}

async function configure(networks: Networks, signal: AbortSignal, tools: NetworkTools): Promise<void> {
  const { paths, exec, log } = tools;
  const plan = planNetworks(networks, await machineInterfaces(paths));
  for (const note of plan.notes) log.warn(note);
  if (!plan.onlyDns) {
    await enableIpv6(paths, plan);
    const applied = await settle(plan, signal, tools);
    await awaitAddresses(plan, signal, tools);
    if (applied) announce(plan, tools, signal).catch((error: unknown) => log.warn(messageTrail(error)));
  }
  await configureDns(paths, plan.dns, exec, signal);
}

/**
 * Brings files and interfaces to the plan. A mark stands beside the files until the interfaces have them, so that an
 * agent that died in between does not take the files for the fact. Resolves to whether anything had to be done.
 */
async function settle(plan: InterfacePlan, signal: AbortSignal, tools: NetworkTools): Promise<boolean> {
  const { paths, exec, log } = tools;
  const directory = paths.system("etc", "systemd", "network");
  const mark = join(directory, ".slipway-pending");
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const wasPending = await exists(mark);
  await writeFile(mark, "");
  let applied = false;
  const changed = (await writeNetworkFiles(directory, renderNetworkFiles(plan))) || wasPending;
  if (changed || (await isBare(plan, signal, tools))) {
    const backend = await chooseBackend(paths, exec);
    // The others read the files at boot and keep the interfaces themselves; what `ip` set is gone after a reboot.
    if (changed || backend === "ip") {
      log.info(
        `configuring ${plan.interfaces.map((one) => one.interface).join(", ") || "no interface"} by ${backend}`,
      );
      await apply(backend, plan, signal, tools);
      applied = true;
    }
  }
  await rm(mark, { force: true });
  return applied;
}

type Backend = "restart_networking" | "networkd" | "ip";

const restartScript = (paths: Paths) => join(paths.boshDir, "bin", "restart_networking");

async function chooseBackend(paths: Paths, exec: Exec): Promise<Backend> {
  if (await exists(restartScript(paths))) return "restart_networking";
  return (await networkdRuns(exec)) ? "networkd" : "ip";
}

async function apply(backend: Backend, plan: InterfacePlan, signal: AbortSignal, tools: NetworkTools) {
  const { paths, exec, log } = tools;
  if (backend === "networkd") return await reloadNetworkd(exec, signal);
  if (backend === "ip") {
    return await applyWithIp(plan, await localAddresses(exec, signal), exec, log, signal);
  }
  await mustRun(exec, "applying the network configuration", restartScript(paths), [], { signal });
}

/** Returns true if an interface lacks its planned address, or any address from DHCP. */
async function isBare(plan: InterfacePlan, signal: AbortSignal, tools: NetworkTools): Promise<boolean> {
  const own = tools.ownAddresses ?? addressesFromOs;
  return (await lacking(plan, signal, tools)).length > 0 || withoutLease(plan, own()).length > 0;
}

async function awaitAddresses(plan: InterfacePlan, signal: AbortSignal, tools: NetworkTools): Promise<void> {
  let missing: readonly StaticInterface[] = [];
  try {
    for (;;) {
      missing = await lacking(plan, signal, tools);
      if (missing.length === 0) return;
      await tools.clock.sleep(POLL_MS, signal);
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const addresses = missing.map((one) => `${one.address} on ${one.interface} (network '${one.network}')`);
    throw AddressesMissing({ addresses: addresses.join(", ") || "unknown" }, { cause });
  }
}

/** Asks this process first: when all is well, nothing is run. */
async function lacking(
  plan: InterfacePlan,
  signal: AbortSignal,
  { exec, ownAddresses = addressesFromOs }: NetworkTools,
): Promise<readonly StaticInterface[]> {
  const statics = plan.interfaces.filter((config) => config.kind === "static");
  const among = (addresses: readonly LocalAddress[]) => statics.filter((config) => !has(addresses, config));
  return among(ownAddresses()).length === 0 ? [] : among(await localAddresses(exec, signal));
}

function has(addresses: readonly LocalAddress[], config: StaticInterface): boolean {
  const wanted = parseAddress(config.address);
  return addresses.some((own) => {
    const address = own.interface === config.interface ? parseAddress(own.address) : undefined;
    return address !== undefined && wanted !== undefined && sameAddress(address, wanted);
  });
}

/** Stemcells switch IPv6 off by sysctl; a network with such an address asks for it. */
async function enableIpv6(paths: Paths, plan: InterfacePlan): Promise<void> {
  const configs = plan.interfaces.filter((one) => (one.kind === "static" ? one.family === 6 : one.ipv6));
  for (const config of configs) {
    for (const scope of ["all", "default", config.interface]) {
      const network = config.kind === "static" ? config.network : config.networks.join(", ");
      await enableIpv6On(paths.system("proc", "sys", "net", "ipv6", "conf", scope), network);
    }
  }
}

async function enableIpv6On(directory: string, network: string): Promise<void> {
  const file = join(directory, "disable_ipv6");
  try {
    if ((await readFile(file, "utf8")).trim() !== "0") await writeFile(file, "0\n");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") throw Ipv6Unavailable({ network }, { cause });
    throw cause;
  }
}

/** Best effort, as upstream: the result is not awaited, and the next one must have its turn. */
async function deleteArpEntry(ip: string, exec: Exec, log: Log): Promise<void> {
  if (isIP(ip) === 0) return log.warn("an ARP entry is not deleted: what was sent is no IP address");
  try {
    await mustRun(exec, "deleting an ARP entry", "ip", ["neigh", "flush", "to", ip]);
  } catch (error) {
    log.warn(`the ARP entry of ${ip} is not deleted: ${messageTrail(error)}`);
  }
}
