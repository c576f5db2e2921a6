import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail } from "@slipway/kernel/errors";
import { type HttpReply, HttpTrouble, requestOnce } from "@slipway/kernel/http/client";
import { vm } from "@slipway/protocol/director/instance";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import type { VmWords } from "../cpis/descriptor.ts";
import type { Home } from "../home/home.ts";
import type { Tools } from "../tools.ts";
import { DEPLOYMENT, GROUP } from "./documents.ts";
import { NoVm, PageSilent, PromiseBroken } from "./errors.ts";

/** The demo's one instance, its VM and its disk. */
export interface DemoVm {
  readonly instance: string;
  readonly cid: string;
  readonly ip: string;
  readonly disk: string;
  readonly hint: unknown;
  /** How it came to its settings. */
  readonly channel: string;
  readonly cpiVersion: number;
  readonly stemcellVersion: number;
}

export async function vmOf(api: DirectorApi, { one }: VmWords): Promise<DemoVm> {
  const vms = await api.json({ method: "GET", path: `/deployments/${DEPLOYMENT}/vms` }, v.array(vm));
  const found = vms.find(({ active, job }) => active && job === GROUP);
  const { cid, slipway } = found ?? {};
  if (found === undefined || !cid || !slipway) throw NoVm({ what: `a ${one}` });
  const [disk] = Object.entries(slipway.disks?.persistent ?? {});
  if (disk === undefined) throw NoVm({ what: "a disk" });
  return {
    instance: found.id,
    cid,
    ip: found.ips?.[0] ?? "",
    disk: disk[0],
    hint: disk[1],
    channel: slipway.channel ?? "",
    cpiVersion: slipway.cpi_api_version,
    stemcellVersion: slipway.stemcell_api_version,
  };
}

/** Port that the job listens on by default, and the name in its certificate. */
const PORT = 8443;
const NAME = "counter";
const WITHIN_MS = 15_000;
const LARGEST = 1 << 20;

export interface Page {
  /** Text of the page without its tags. */
  readonly text: string;
  readonly count: number;
}

export const pageUrl = ({ ip }: Pick<DemoVm, "ip">): string => `https://${ip}:${PORT}`;

/** Returns the curl command that fetches the page, with the authority in a file. */
export const curlLine = ({ ip }: Pick<DemoVm, "ip">, ca: string): string =>
  `curl --cacert ${ca} --resolve ${NAME}:${PORT}:${ip} https://${NAME}:${PORT}`;

/** The authority that signed the page's certificate: the job has put it on its disk. Kept in a file for others. */
export async function pageAuthority(api: DirectorApi, vm: DemoVm, file: string): Promise<string> {
  const path = `/deployments/${DEPLOYMENT}/instance_groups/${GROUP}/${pathSegment(vm.instance)}/store`;
  const ca = await api.text({ method: "GET", path, query: { path: "counter/ca.crt" } });
  await writeFileAtomic(file, ca);
  return ca;
}

export const authorityFile = (dir: string): string => join(dir, "ca.crt");

/** Returns the page as a browser would show it. The server must have the generated certificate. */
export async function readPage(
  vm: DemoVm,
  ca: string,
  { clock, stop }: Pick<Tools, "clock" | "stop">,
): Promise<Page> {
  const origin = pageUrl(vm);
  const body = await ask().catch((error: unknown) => {
    if (!(error instanceof HttpTrouble)) throw error;
    throw PageSilent({ url: origin, why: messageTrail(error) }, { cause: error });
  });
  const text = textOf(body);
  const count = /Visits: (\d+)/.exec(text)?.[1];
  if (count === undefined) throw PromiseBroken({ what: `the page shows no count, but "${text}"` });
  return { text, count: Number(count) };

  async function ask(): Promise<string> {
    const reply: HttpReply = await requestOnce(
      { origin, clock, tls: { ca, servername: NAME } },
      { method: "GET", path: "/", withinMs: WITHIN_MS, largest: LARGEST, signal: stop },
    );
    return await reply.text();
  }
}

const textOf = (html: string): string =>
  html
    .split("\n")
    .map((line) => line.replaceAll(/<[^<>]*>/g, "").trim())
    .filter((line) => line !== "")
    .join(", ");

/** The first version of the stemcell API whose agents need no registry. */
const WITHOUT_REGISTRY = 2;

/** How the VMs came to their settings, in words. Without a registry, unless their stemcell is too old for that. */
export async function registryText(home: Home, vms: readonly DemoVm[], { one }: VmWords): Promise<string> {
  const old = vms.find((vm) => vm.stemcellVersion < WITHOUT_REGISTRY);
  if (old !== undefined)
    return `The registry was involved: agents of this stemcell, API v${old.stemcellVersion}, know no other way to their settings.`;
  const none = await noRegistry(home, vms);
  return `No registry was involved: the old ${one} and the new one got their settings as user-data, and ${none}.`;
}

/** Looks whether a registry was involved, and says in words that none was. */
async function noRegistry(home: Home, vms: readonly DemoVm[]): Promise<string> {
  for (const { cid, channel } of vms)
    if (channel !== "user-data") throw PromiseBroken({ what: `${cid} has its settings from the ${channel}` });
  // The Director makes it when it starts its registry for the first time.
  const dir = join(home.director, "registry");
  if (!existsSync(dir)) return "the registry was never started";
  const entries = join(dir, "entries");
  for (const name of await readdir(entries).catch(() => [])) {
    const text = await readFile(join(entries, name), "utf8").catch(() => "");
    const held = vms.find(({ cid }) => text.includes(cid));
    if (held !== undefined) throw PromiseBroken({ what: `the registry holds something of ${held.cid}` });
  }
  return "the registry that runs here for others holds nothing of them";
}
