import { expectEqual } from "../expect.ts";
import type { CALL_RULES } from "../rules/call-rules.ts";
import type { ChecksOf } from "./check.ts";
import type { ResourceTracker } from "./resource-tracker.ts";

const AT_ONCE = { vms: 3, disks: 10 };
/** From before it has read its input to about when it is done. */
const KILLED_AFTER_MS = [60, 150, 300, 600];

/** Checks that do not just make one call after the other. */
export const INTERRUPTION_CHECKS: ChecksOf<typeof CALL_RULES> = {
  "CPI-CALL-001": async (cloud) => {
    await cloud.stemcell();
    const { vms, disks } = cloud.given.atOnce ?? AT_ONCE;
    const madeDisks = await Promise.all(Array.from({ length: disks }, () => cloud.diskOf()));
    expectEqual(new Set(madeDisks).size, disks, "different disks");
    const args = await Promise.all(Array.from({ length: vms }, () => cloud.vmArguments()));
    const madeVms = await Promise.all(args.map((one) => cloud.vmOf(one)));
    expectEqual(new Set(madeVms).size, vms, "different VMs");
  },
  "CPI-CALL-002": async (cloud) => {
    for (const deadlineMs of KILLED_AFTER_MS) {
      const asking = { requestId: cloud.given.uuid() };
      const args = await cloud.vmArguments();
      await killed(cloud, "create_vm", args, asking, deadlineMs);
      const vm = await cloud.vmOf(args, asking);
      await cloud.result("delete_vm", [vm]);
      expectEqual(await cloud.result("has_vm", [vm]), false, "has_vm");
      const size = cloud.diskArguments(cloud.diskSize);
      const again = { requestId: cloud.given.uuid() };
      await killed(cloud, "create_disk", size, again, deadlineMs);
      const disk = await cloud.diskOf(again);
      await cloud.result("delete_disk", [disk]);
    }
  },
};

/** Kills the call by SIGKILL, unless it is done before. */
async function killed(
  cloud: ResourceTracker,
  method: string,
  args: readonly unknown[],
  asking: { readonly requestId: string },
  afterMs: number,
): Promise<void> {
  await cloud.call(method, args, asking, afterMs).catch(() => undefined);
}
