import type { Change, DesiredInstance } from "@slipway/engine/model/goal";
import type { CpiName, GroupName } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { vmSuits } from "@slipway/engine/model/vm-suits";
import { diskWork, mayBeReplaced } from "@slipway/engine/plan/disks";
import type { AgentReport, InstancePlan } from "@slipway/engine/plan/model";
import { stepsFor, type VmWork } from "@slipway/engine/plan/steps";
import { leftoversOf, spareVm } from "@slipway/engine/plan/vms";
import type { StemcellCid, VmCid } from "@slipway/protocol/ids";
import type { EnvManifest } from "./manifest/model.ts";
import type { Own, StemcellEntry } from "./state/document.ts";
import { INSTANCE } from "./state/store.ts";

/** Returns the desired state of the only instance. */
export function desiredInstance(
  manifest: EnvManifest,
  stemcell: StemcellEntry,
  operatingSystem: string,
): DesiredInstance {
  const { name, version, cid, api_version: apiVersion = 1 } = stemcell;
  return {
    group: manifest.group as GroupName,
    uuid: INSTANCE,
    index: 0,
    az: "unknown",
    bootstrap: true,
    state: "started",
    cpi: "" as CpiName,
    stemcell: {
      id: 0,
      name,
      version,
      operatingSystem,
      cid: cid as StemcellCid,
      cpi: "",
      apiVersion: Math.max(1, apiVersion),
    },
    cloudProperties: manifest.cloudProperties,
    vmResources: undefined,
    vmType: null,
    env: manifest.env,
    tags: manifest.tags,
    networks: manifest.networks,
    ips: [],
    persistentDisk: manifest.persistentDisk,
    jobs: null,
  };
}

export interface EnvPlanInput {
  readonly recorded: InstanceRecord;
  readonly desired: DesiredInstance;
  /** Report of the active VM's agent. */
  readonly agent: AgentReport | undefined;
  readonly attempt: NonNullable<Own["attempt"]>;
  readonly skipDrain: boolean;
  /** `--recreate` was given, now. */
  readonly recreate: boolean;
}

/**
 * Plans the instance. As upstream, every deploy replaces the VM and keeps the disk. A VM that this attempt made before it was
 * interrupted is kept; anything older is replaced.
 */
export function planEnv(input: EnvPlanInput): InstancePlan {
  const { recorded, desired, agent, attempt, skipDrain } = input;
  const vm = activeVm(recorded);
  const unresponsive = vm !== undefined && agent?.responsive !== true;
  const ofThisAttempt = vm !== undefined && vm.id >= attempt.firstId && vmSuits(vm, desired);
  const vmWork: VmWork = vm === undefined ? "create" : ofThisAttempt && !unresponsive ? "keep" : "replace";
  const givenUp = givenUpVms(input);
  const spare = vmWork === "keep" ? undefined : spareVm(recorded, desired, givenUp);
  const active = recorded.disks.find((disk) => disk.active);
  const renewed = active === undefined || active.id >= attempt.firstId;
  // A disk that the manifest no longer has stays as it is, as with upstream.
  const kept = desired.persistentDisk ?? null;
  const disk =
    kept === null
      ? ({ how: "none", wanted: null, active: undefined, fresh: undefined, old: [] } as const)
      : diskWork(kept, recorded, {
          cpi: desired.cpi,
          resizeByCpi: false,
          updateByCpi: false,
          renewBefore: attempt.renewDisks && !renewed ? Number.POSITIVE_INFINITY : undefined,
        });
  const changes: Change[] = [];
  if (vmWork === "replace") changes.push({ kind: "recreate", reason: "every deploy replaces the VM" });
  if (disk.how === "copy" || disk.how === "first")
    changes.push({ kind: "persistent_disk", reason: "the disk is made" });
  const { early, late } = stepsFor({
    desired,
    recorded,
    vm,
    spare,
    leftovers: leftoversOf(recorded, spare, givenUp),
    disk,
    named: [],
    vmWork,
    running: vmWork === "replace" && !unresponsive,
    snapshots: false,
    unresponsive,
    inPlace: "jobs",
    newTags: true,
    cause: changes.map(({ reason }) => reason).join("; "),
  });
  return {
    action: vmWork === "keep" ? "update" : vmWork === "create" ? "create" : "recreate",
    changes,
    steps: [...early, ...late],
    desired,
    recorded,
    unresponsive,
    skipDrain,
    diskMayBeReplaced: mayBeReplaced(disk),
    vmsToGo: [...givenUp.keys()],
    downtime: undefined,
  };
}

/** VMs that were waited for in vain, and are not waited for again. */
const givenUpVms = ({ recorded, attempt, recreate }: EnvPlanInput): ReadonlyMap<VmCid, string> =>
  new Map(
    recorded.vms
      .filter((vm) => !vm.active && !vm.ready)
      .flatMap((vm) => {
        if (recreate) return [[vm.cid, "--recreate was given"]];
        return vm.id < attempt.firstId ? [[vm.cid, "something else is wanted since"]] : [];
      }),
  );
