import { readFile } from "node:fs/promises";
import { isInRange } from "@slipway/kernel/ip-address";
import { AddressRefused, NetworkSetupFailed } from "../errors.ts";
import { type LocalCloud, place } from "../local-cloud.ts";
import { AGENT_PORT, listenersOn } from "../networks/listeners.ts";
import { hostEndOf, isHostEnd } from "../networks/plan.ts";
import { allVms, readRecord, type SandboxRecord, vmDir } from "../vm-record.ts";
import { runningIn } from "./identity.ts";

/**
 * Refuses addresses that are taken: by another running sandbox, by another program, or by the host for its own
 * purposes.
 */
export async function mustBeFree(cloud: LocalCloud, cid: string, record: SandboxRecord): Promise<void> {
  for (const { network, ip } of record.addresses) {
    const holder = await runningWith(cloud, cid, ip);
    if (holder !== undefined) throw AddressRefused({ network, ip, why: `the sandbox ${holder} has it` });
  }
  if (record.ownNetwork) return await mustBeUnknown(cloud, cid, record);
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  for (const { network, ip } of record.addresses) {
    if (listenersOn(tables.join("\n"), ip, AGENT_PORT))
      throw AddressRefused({
        network,
        ip,
        why: `another program of this host listens there on port ${AGENT_PORT}, perhaps a sandbox of another Director`,
      });
  }
}

async function runningWith(cloud: LocalCloud, cid: string, ip: string): Promise<string | undefined> {
  for (const other of await allVms(cloud)) {
    if (other === place(cid)) continue;
    const dir = vmDir(cloud, other);
    const record = await readRecord(dir).catch(() => undefined);
    if (!record?.addresses.some((address) => address.ip === ip)) continue;
    if ((await runningIn(dir)) !== undefined) return other;
  }
  return undefined;
}

interface Shown {
  readonly dst?: string;
  readonly dev?: string;
  readonly addr_info?: readonly { readonly local?: string }[];
  readonly ifname?: string;
}

const LOOK_AGAIN_MS = 50;
const PATIENCE_MS = 30_000;

/** Matches the name that `ip` shows for an interface that is gone by the time it looks for its name. */
const NAMELESS = /^if\d+$/;

/** The kernel takes the network of a sandbox that ended by itself apart in its own time. */
async function routesWithoutOwn(
  cloud: LocalCloud,
  cid: string,
  record: SandboxRecord,
): Promise<readonly Shown[]> {
  const own = record.addresses.map(({ network }) => hostEndOf(cid, network));
  const since = cloud.clock.monotonic();
  for (;;) {
    const routes = await inFamilies(record, (family) =>
      shown(cloud, cid, [family, "route", "show", "table", "main"]),
    );
    const left = routes.some(
      ({ dst = "default", dev = "" }) =>
        own.includes(dev) ||
        (NAMELESS.test(dev) && dst !== "default" && record.addresses.some(({ ip }) => isInRange(dst, ip))),
    );
    if (!left || cloud.clock.monotonic() - since > PATIENCE_MS) return routes;
    await cloud.clock.sleep(LOOK_AGAIN_MS);
  }
}

/** No address of the host's, and none that the host has another way to than its default. */
async function mustBeUnknown(cloud: LocalCloud, cid: string, record: SandboxRecord): Promise<void> {
  const routes = await routesWithoutOwn(cloud, cid, record);
  const links = await inFamilies(record, (family) => shown(cloud, cid, [family, "addr"]));
  for (const { network, ip } of record.addresses) {
    const own = links.find((link) => link.addr_info?.some(({ local }) => local === ip));
    if (own !== undefined)
      throw AddressRefused({
        network,
        ip,
        why: `it is this host's own, on ${own.ifname ?? "some interface"}`,
      });
    const way = routes.find(({ dst = "default" }) => dst !== "default" && isInRange(dst, ip));
    if (way === undefined) continue;
    const dev = way.dev ?? "nowhere";
    throw AddressRefused({
      network,
      ip,
      why: isHostEnd(dev)
        ? "a sandbox of another directory has it"
        : `this host's way to it is ${way.dst} by ${dev}`,
    });
  }
}

/** Collects the results for the address families that the sandbox has addresses of. */
async function inFamilies(
  { addresses }: SandboxRecord,
  look: (family: "-4" | "-6") => Promise<readonly Shown[]>,
): Promise<readonly Shown[]> {
  const families = new Set(addresses.map(({ ip }) => (ip.includes(":") ? ("-6" as const) : ("-4" as const))));
  const found = await Promise.all([...families].map(look));
  return found.flat();
}

async function shown(cloud: LocalCloud, cid: string, args: readonly string[]): Promise<readonly Shown[]> {
  const result = await cloud.exec("ip", ["-json", ...args]).catch((cause: unknown) => {
    throw NetworkSetupFailed({ cid, said: "the program ip cannot be started" }, { cause });
  });
  if (result.code !== 0) throw NetworkSetupFailed({ cid, said: result.stderr.trim().slice(-500) });
  return JSON.parse(result.stdout || "[]") as readonly Shown[];
}
