import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { vmNotFound } from "@slipway/cpi-sdk/errors";
import { replaceFile } from "@slipway/kernel/atomic-file";
import { mustRun } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { DELETED, discard, namesIn, PARTIAL, removeTree } from "../files.ts";
import { directoryOf, type LocalCloud, locked, place } from "../local-cloud.ts";
import { asOwner } from "../namespaces.ts";
import type { SandboxNetworkPlan } from "../networks/plan.ts";
import { endSandbox } from "../sandbox/stop.ts";
import { type SandboxRecord, vmDir } from "../vm-record.ts";

export const hasVm = (cloud: LocalCloud, cid: string): Promise<boolean> => exists(vmDir(cloud, cid));

export async function mustHaveVm(cloud: LocalCloud, cid: string): Promise<string> {
  if (!(await hasVm(cloud, cid))) throw vmNotFound(cid);
  return vmDir(cloud, cid);
}

/** One call at a time for one VM. */
export const withVm = <T>(cloud: LocalCloud, cid: string, work: () => Promise<T>): Promise<T> =>
  locked(cloud, `vm-${place(cid)}`, work);

export interface NewSandbox {
  readonly userData: string;
  readonly record: SandboxRecord;
  readonly plan: SandboxNetworkPlan;
  /** The `/var/vcap` that came with its root file system. */
  readonly vcap?: string | undefined;
}

/** Whole or not at all; a repeat finds the first one. Not started. */
export async function createVm(cloud: LocalCloud, cid: string, vm: NewSandbox): Promise<void> {
  const path = vmDir(cloud, cid);
  if (await exists(path)) return;
  // A crash in the middle of a removal, or of an earlier try.
  await removeVm(cloud, cid);
  const partial = `${path}${PARTIAL}`;
  await mkdir(partial, { recursive: true, mode: 0o700 });
  for (const name of ["disks", "hot", "root", "tmp", "upper", "work"]) await mkdir(join(partial, name));
  await writeFile(join(partial, "vm.json"), JSON.stringify(vm.record), { mode: 0o600 });
  await writeFile(join(partial, "user-data.json"), vm.userData, { mode: 0o600 });
  await writeFile(join(partial, "agent.json"), JSON.stringify(AGENT_CONFIG), { mode: 0o600 });
  if (vm.plan.ownNetwork) {
    await writeFile(join(partial, "net-inside"), lines(vm.plan.inside));
    await writeFile(join(partial, "net-outside"), lines(vm.plan.outside));
    await writeFile(join(partial, "net-links"), lines(vm.plan.links));
  }
  if (vm.vcap !== undefined) {
    const [program, ...args] = await asOwner(cloud, [
      "cp",
      "-a",
      "--reflink=auto",
      vm.vcap,
      `${partial}/vcap`,
    ]);
    await mustRun(cloud.exec, `copying ${vm.vcap}`, program, args);
  }
  for (const name of ["bosh", "disks"]) await mkdir(join(partial, "vcap", name), { recursive: true });
  // Whatever the umask of the caller: every user of the sandbox may look, and write to /tmp.
  for (const name of ["hot", "upper", "vcap", "vcap/bosh", "vcap/disks"])
    await chmod(join(partial, name), 0o755);
  await chmod(join(partial, "tmp"), 0o1777);
  await rename(partial, path);
}

const lines = (list: readonly string[]) => list.map((line) => `${line}\n`).join("");

/** Paths as the sandbox has them. */
const AGENT_CONFIG = {
  Platform: { Linux: { SkipDiskSetup: true } },
  Infrastructure: { Settings: { Sources: [{ Type: "File", SettingsPath: "/run/slipway/user-data.json" }] } },
};

/**
 * Ends its processes and removes it, whatever state a crash has left it in. First out of sight: an init that has not yet
 * said who it is finds no place to say it, and ends.
 */
export async function removeVm(cloud: LocalCloud, cid: string): Promise<void> {
  const path = vmDir(cloud, cid);
  const doomed = `${path}${DELETED}`;
  if (await exists(doomed)) await endSandbox(cloud, doomed, cid);
  if (await exists(path)) {
    await removeTree(cloud, doomed);
    await rename(path, doomed);
    await endSandbox(cloud, doomed, cid);
  }
  await discard(cloud, path);
}

/** Removals that a crash has interrupted: their processes may still hold disks and addresses. */
export async function finishRemovals(cloud: LocalCloud): Promise<void> {
  for (const name of await namesIn(directoryOf(cloud, "vms"))) {
    if (!name.endsWith(DELETED)) continue;
    const cid = name.slice(0, -DELETED.length);
    await withVm(cloud, cid, async () => {
      if (await exists(`${vmDir(cloud, cid)}${DELETED}`)) await removeLeftover(cloud, cid);
    });
  }
}

async function removeLeftover(cloud: LocalCloud, cid: string): Promise<void> {
  const doomed = `${vmDir(cloud, cid)}${DELETED}`;
  await endSandbox(cloud, doomed, cid);
  await removeTree(cloud, doomed);
}

export async function describeVm(cloud: LocalCloud, cid: string, metadata: JsonObject): Promise<void> {
  const path = await mustHaveVm(cloud, cid);
  await replaceFile(join(path, "metadata.json"), JSON.stringify(metadata));
}
