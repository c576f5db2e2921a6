import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Words } from "../cpis/descriptor.ts";
import type { Home } from "../home/home.ts";
import { PromiseBroken } from "./errors.ts";
import type { DemoVm } from "./vm.ts";

/** The first version of the stemcell API whose agents need no registry. */
const WITHOUT_REGISTRY = 2;

/** How the VMs came to their settings, in words. Without a registry, unless their stemcell is too old for that. */
export async function registryText(home: Home, vms: readonly DemoVm[], { one }: Words): Promise<string> {
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
