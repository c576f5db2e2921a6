import type { Change } from "../model/goal.ts";
import { activeVm, type InstanceRecord, type VmRecord } from "../model/records.ts";
import { isAttached } from "./disks.ts";
import type { AgentReport, InstancePlan } from "./model.ts";
import { detachBeforeDelete, newStepList } from "./steps.ts";

/**
 * The end of an instance. Its disks go to the orphans. A VM that may be orphaned is left to the clean-up, so that the
 * deploy does not wait for the cloud.
 */
export function planDeletion(
  recorded: InstanceRecord,
  given: {
    readonly agent: AgentReport | undefined;
    readonly orphanVm: boolean;
    readonly skipDrain: boolean;
    readonly why: string;
  },
): InstancePlan {
  const list = newStepList();
  const vm = activeVm(recorded);
  const unresponsive = given.agent?.responsive === false;
  if (vm !== undefined && !unresponsive) {
    const idle = given.agent?.responsive === true && given.agent.jobState === "stopped";
    if (!idle) list.add("stop", given.why);
    detachBeforeDelete(recorded, vm, list);
  }
  if (vm !== undefined && orphans(recorded, vm, given.orphanVm && !unresponsive)) {
    list.add("orphan_vm", given.why);
    if (recorded.vms.length > 1) list.add("delete_unused_vm", given.why);
  } else if (recorded.vms.length > 0) list.add("delete_vm", given.why);
  if (recorded.disks.length > 0) list.add("orphan_disk", "kept for some days: its instance is gone");
  list.add("delete_instance", given.why);
  const changes: readonly Change[] = [{ kind: "state", reason: given.why }];
  return {
    action: "delete",
    changes,
    steps: list.steps(),
    desired: undefined,
    recorded,
    unresponsive,
    skipDrain: given.skipDrain,
    diskMayBeReplaced: false,
    downtime: vm === undefined ? undefined : "for good: it is deleted",
  };
}

/**
 * Returns true if the VM is orphaned rather than deleted. A VM with static addresses, which may be wanted at once, or with a
 * disk that would stay attached to it, is deleted.
 */
const orphans = (recorded: InstanceRecord, vm: VmRecord, asked: boolean): boolean =>
  asked &&
  !recorded.ips.some((ip) => ip.static) &&
  !recorded.disks.some((disk) => !disk.active && isAttached(disk, vm));
