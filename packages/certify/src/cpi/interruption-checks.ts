import { expectEqual } from "../expect.ts";
import type { CALL_RULES } from "../rules/call-rules.ts";
import type { ChecksOf } from "./check.ts";
import type { ResourceTracker } from "./resource-tracker.ts";

const AT_ONCE = 10;
/** From before it has read its input to about when it is done. */
const KILLED_AFTER_MS = [60, 150, 300, 600];

/** Checks that do not just make one call after the other. */
export const INTERRUPTION_CHECKS: ChecksOf<typeof CALL_RULES> = {
  "CPI-CALL-001": async (cloud) => {
    await cloud.stemcell();
    const disks = await Promise.all(Array.from({ length: AT_ONCE }, () => cloud.newDisk(16)));
    expectEqual(new Set(disks).size, AT_ONCE, "different disks");
    const vms = await Promise.all([cloud.newVm(), cloud.newVm(), cloud.newVm()]);
    expectEqual(new Set(vms).size, vms.length, "different VMs");
  },
  "CPI-CALL-002": async (cloud) => {
    for (const deadlineMs of KILLED_AFTER_MS) {
      const asking = { requestId: cloud.given.uuid() };
      const args = await cloud.vmArguments();
      await killed(cloud, "create_vm", args, asking, deadlineMs);
      const vm = await cloud.vmOf(args, asking);
      await cloud.result("delete_vm", [vm]);
      expectEqual(await cloud.result("has_vm", [vm]), false, "has_vm");
      const size = [16, {}, null];
      const again = { requestId: cloud.given.uuid() };
      await killed(cloud, "create_disk", size, again, deadlineMs);
      const disk = cloud.remember("delete_disk", await cloud.result("create_disk", size, again));
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
