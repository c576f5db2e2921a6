import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import type { GivenConfig } from "./config.ts";
import { removeTree } from "./files.ts";
import { type LocalCloud, openCloud } from "./local-cloud.ts";
import { runningIn } from "./sandbox/identity.ts";
import { startSandbox } from "./sandbox/start.ts";
import { endSandbox } from "./sandbox/stop.ts";
import { allVms, vmDir } from "./vm-record.ts";
import { hasVm, withVm } from "./vms/vms.ts";

/** Ends the processes of every sandbox and keeps everything else. The cids of those that ran. */
export async function stopAll(config: GivenConfig): Promise<readonly string[]> {
  const cloud = await openCloud(config);
  const stopped = await Promise.all(
    (await allVms(cloud)).map((cid) =>
      withVm(cloud, cid, async () => ((await endSandbox(cloud, vmDir(cloud, cid), cid)) ? [cid] : [])),
    ),
  );
  return stopped.flat();
}

/** Removes the directory of a cloud in which nothing runs: VMs, disks, stemcells. */
export async function removeCloud(config: GivenConfig): Promise<void> {
  await stopAll(config);
  const cloud = await openCloud(config);
  await removeTree(cloud, cloud.dir);
}

export interface StartedAll {
  /** Sandboxes that run now and did not before. */
  readonly started: readonly string[];
  readonly failed: readonly { readonly cid: string; readonly why: string }[];
}

/**
 * Starts every sandbox that should run and does not, with its disks: after `stopAll`, and after a reboot of the host.
 * One that was switched off from within (the agent's `shutdown`) stays off. One that fails does not keep the others.
 */
export async function startAll(config: GivenConfig): Promise<StartedAll> {
  const cloud = await openCloud(config);
  const started: string[] = [];
  const failed: { cid: string; why: string }[] = [];
  for (const cid of await allVms(cloud)) {
    await withVm(cloud, cid, () => startOne(cloud, cid)).then(
      (did) => did && started.push(cid),
      (error: unknown) => failed.push({ cid, why: messageTrail(error) }),
    );
  }
  return { started, failed };
}

async function startOne(cloud: LocalCloud, cid: string): Promise<boolean> {
  const dir = vmDir(cloud, cid);
  if (!(await hasVm(cloud, cid)) || (await runningIn(dir)) !== undefined) return false;
  const ended = await readFile(join(dir, "ended"), "utf8").catch(() => "");
  if (ended.trim() === "off") return false;
  await startSandbox(cloud, dir, cid);
  return true;
}
