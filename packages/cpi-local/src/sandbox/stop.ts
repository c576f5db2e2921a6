import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import { SandboxDoesNotEnd } from "../errors.ts";
import type { LocalCloud } from "../local-cloud.ts";
import { isThere, type Keeper, keeperOf } from "../namespaces.ts";
import { hostEndOf } from "../networks/plan.ts";
import { readRecord } from "../vm-record.ts";
import { runningIn } from "./identity.ts";

const ENDS_WITHIN_MS = 60_000;

/**
 * Ends a sandbox: killing its init ends all its processes, and with them go its mounts, loop devices and networks. A
 * start that is under way is called off first. The directory may have been renamed since.
 */
export async function endSandbox(cloud: LocalCloud, vmDir: string, cid: string): Promise<boolean> {
  await callOffStart(cloud, vmDir);
  const since = cloud.clock.monotonic();
  let ended = false;
  let keeper: Keeper | undefined;
  for (let wait = 1; ; wait = Math.min(wait * 2, 100)) {
    const init = await runningIn(vmDir);
    if (init === undefined) break;
    keeper ??= keeperOf(init.pid);
    if (cloud.clock.monotonic() - since > ENDS_WITHIN_MS)
      throw SandboxDoesNotEnd({ cid, pid: init.pid, why: "it was killed a minute ago and is still there" });
    try {
      process.kill(init.pid, "SIGKILL");
    } catch (cause) {
      if (systemCode(cause) !== "ESRCH")
        throw SandboxDoesNotEnd({ cid, pid: init.pid, why: messageTrail(cause) }, { cause });
    }
    ended = true;
    await cloud.clock.sleep(wait);
  }
  // It follows its init at once; what looks for traces must not find it.
  while (keeper !== undefined && isThere(keeper) && cloud.clock.monotonic() - since < ENDS_WITHIN_MS)
    await cloud.clock.sleep(1);
  for (const file of ["process", "pid"]) await rm(join(vmDir, file), { force: true });
  await removeWires(cloud, vmDir, cid);
  return ended;
}

/** The kernel takes its network apart in its own time. The next sandbox may need the addresses now. */
async function removeWires(cloud: LocalCloud, vmDir: string, cid: string): Promise<void> {
  const record = await readRecord(vmDir).catch(() => undefined);
  if (record?.ownNetwork !== true) return;
  // One that is gone is as it should be; what is left is noticed by who needs its address.
  for (const { network } of record.addresses)
    await cloud.exec("ip", ["link", "del", hostEndOf(cid, network)]).catch(() => undefined);
}

/** An init that has not said who it is does so in this directory. */
async function callOffStart(cloud: LocalCloud, vmDir: string): Promise<void> {
  const starting = join(vmDir, "starting");
  if (!(await exists(starting))) return;
  const calledOff = join(vmDir, `called-off-${cloud.random.hex(6)}`);
  await rename(starting, calledOff);
  await rm(calledOff, { recursive: true, force: true });
}
