import { readFile } from "node:fs/promises";
import { endianness, networkInterfaces } from "node:os";
import { CommandMissing, type Exec, type ExecResult } from "@slipway/kernel/exec";
import { formatAddress, maskToPrefix, parseAddress, prefixToMask } from "@slipway/kernel/ip-address";
import * as v from "valibot";
import type { Paths } from "../../../paths.ts";
import type { LiveNetwork } from "../../platform.ts";

export interface LocalAddress {
  readonly interface: string;
  readonly family: 4 | 6;
  readonly address: string;
  readonly prefix: number;
  /** Reachable from elsewhere: neither of the loopback nor of the link alone. */
  readonly global: boolean;
}

interface DefaultRoute {
  readonly interface: string;
  readonly family: 4 | 6;
  readonly gateway: string;
  readonly metric: number;
  /** The address the kernel uses towards it, where the route says so. */
  readonly source?: string | undefined;
}

/** Address, netmask and gateway by the default route, IPv4 before IPv6. */
export async function liveNetwork(paths: Paths, exec: Exec): Promise<LiveNetwork | undefined> {
  const addresses = await localAddresses(exec);
  return networkBy(await defaultRoutes(paths, exec), addresses);
}

/** The same without running anything. */
export async function liveNetworkFromProc(
  paths: Paths,
  addresses: readonly LocalAddress[] = addressesFromOs(),
): Promise<LiveNetwork | undefined> {
  return networkBy(await routesFromProc(paths), addresses);
}

function networkBy(
  routes: readonly DefaultRoute[],
  addresses: readonly LocalAddress[],
): LiveNetwork | undefined {
  const ordered = [...routes].sort((a, b) => a.family - b.family || a.metric - b.metric);
  for (const route of ordered) {
    const own = addresses.filter(
      (address) => address.interface === route.interface && address.family === route.family && address.global,
    );
    const primary = own.find(({ address }) => address === route.source) ?? own[0];
    if (primary === undefined) continue;
    const netmask = formatAddress(prefixToMask(primary.family, primary.prefix));
    return { ip: primary.address, netmask, gateway: route.gateway };
  }
  return undefined;
}

/** `ip` sees addresses of interfaces that are down or without a carrier too; where it is missing, Node's list has to do. */
export async function localAddresses(exec: Exec, signal?: AbortSignal): Promise<readonly LocalAddress[]> {
  const shown = await ask(exec, ["-j", "address"], signal);
  return (shown === undefined ? undefined : parseIpAddresses(shown)) ?? addressesFromOs();
}

async function defaultRoutes(paths: Paths, exec: Exec): Promise<readonly DefaultRoute[]> {
  const shown = await ask(exec, ["-j", "route", "show", "default"]);
  const routes = shown === undefined ? undefined : parseIpRoutes(shown, 4);
  if (routes === undefined) return routesFromProc(paths);
  const shown6 = await ask(exec, ["-j", "-6", "route", "show", "default"]);
  return [...routes, ...(parseIpRoutes(shown6 ?? "", 6) ?? [])];
}

/** Runs `ip`. Undefined if it is missing or has no JSON output, like that of busybox. */
async function ask(exec: Exec, args: readonly string[], signal?: AbortSignal): Promise<string | undefined> {
  let result: ExecResult;
  try {
    result = await exec("ip", args, { signal });
  } catch (error) {
    if (CommandMissing.is(error)) return undefined;
    throw error;
  }
  return result.code === 0 ? result.stdout : undefined;
}

const shownAddress = v.object({
  family: v.string(),
  local: v.string(),
  prefixlen: v.number(),
  scope: v.string(),
});
// Elements and their lists are partly empty when something is filtered.
const shownAddresses = v.array(
  v.object({ ifname: v.optional(v.string()), addr_info: v.optional(v.array(v.unknown())) }),
);
const shownRoutes = v.array(
  v.object({
    dev: v.optional(v.string()),
    gateway: v.optional(v.string(), ""),
    metric: v.optional(v.number(), 0),
    prefsrc: v.optional(v.string()),
  }),
);

function parseIpAddresses(json: string): readonly LocalAddress[] | undefined {
  const parsed = v.safeParse(shownAddresses, fromJson(json));
  if (!parsed.success) return undefined;
  return parsed.output.flatMap(({ ifname, addr_info }) =>
    (addr_info ?? []).flatMap((entry): LocalAddress[] => {
      const shown = v.safeParse(shownAddress, entry);
      if (!shown.success || ifname === undefined) return [];
      const { local, prefixlen, scope } = shown.output;
      const family = shown.output.family === "inet6" ? 6 : 4;
      return [{ interface: ifname, family, address: local, prefix: prefixlen, global: scope === "global" }];
    }),
  );
}

function parseIpRoutes(json: string, family: 4 | 6): readonly DefaultRoute[] | undefined {
  // `ip -6` prints nothing at all when there is nothing to show.
  const parsed = v.safeParse(shownRoutes, fromJson(json.trim() === "" ? "[]" : json));
  if (!parsed.success) return undefined;
  return parsed.output.flatMap(({ dev, gateway, metric, prefsrc }): DefaultRoute[] =>
    dev === undefined ? [] : [{ interface: dev, family, gateway, metric, source: prefsrc }],
  );
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const IS_UP = 0x1;

/** Lines of `/proc/net/route`: interface, destination, gateway, flags, …, metric, mask; numbers in hexadecimal. */
async function routesFromProc(paths: Paths): Promise<readonly DefaultRoute[]> {
  const text = await readFile(paths.system("proc", "net", "route"), "utf8").catch(() => "");
  return text
    .split("\n")
    .slice(1)
    .map((row) => row.trim().split(/\s+/))
    .flatMap(([device, destination, gateway, flags, , , metric, mask]): DefaultRoute[] => {
      if (device === undefined || destination !== "00000000" || mask !== "00000000") return [];
      if ((Number.parseInt(flags ?? "0", 16) & IS_UP) === 0) return [];
      return [{ interface: device, family: 4, gateway: fromKernel(gateway ?? ""), metric: Number(metric) }];
    });
}

/** The kernel prints the bytes of an address as a number of its own byte order. */
function fromKernel(hex: string): string {
  const bytes = [...Buffer.from(hex, "hex")];
  return (endianness() === "LE" ? bytes.reverse() : bytes).join(".");
}

export function addressesFromOs(): readonly LocalAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([device, infos]) =>
    (infos ?? []).map((info): LocalAddress => {
      const mask = parseAddress(info.netmask);
      return {
        interface: device,
        family: info.family === "IPv6" ? 6 : 4,
        address: info.address,
        prefix: (mask && maskToPrefix(mask)) ?? 0,
        global: !info.internal && !/^fe[89ab]/i.test(info.address),
      };
    }),
  );
}
