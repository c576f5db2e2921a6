import type { DiskCid } from "@slipway/protocol/ids";
import { disk as diskSample, vm as vmSample } from "@slipway/testkit/vm-record";
import { describe, expect, it } from "vitest";
import type { DesiredInstance, InstanceGoal } from "../model/goal.ts";
import type { DiskRecord, InstanceRecord, VmRecord } from "../model/records.ts";
import { currentVm, disksToOrphan, isAgentResponsive, newDisk, newVm, unusedVm } from "./select.ts";
import type { StepSubject } from "./step.ts";

const vm = (cid: string, more: Partial<VmRecord> = {}): VmRecord => ({ ...vmSample(cid), id: 1, ...more });
const disk = (id: number, more: Partial<DiskRecord> = {}): DiskRecord => ({
  ...diskSample(`disk-${id}`, false),
  id,
  attachedTo: null,
  hint: null,
  mounted: false,
  ...more,
});

/** Goal that the sample VM and the sample disk fit. */
const WANTED = {
  cpi: "",
  state: "started",
  stemcell: { name: "jammy", version: "1.785", apiVersion: 3 },
  env: { bosh: { group: "web" } },
  cloudProperties: { cpu: 2 },
  networks: { default: { type: "manual", ip: "10.0.0.5" } },
  persistentDisk: { size: 1024, cloudProperties: { type: "gp3" } },
} as unknown as DesiredInstance;

const replacing: Partial<InstanceGoal> = { diskMayBeReplaced: true };

function subject(
  has: { readonly vms?: readonly VmRecord[]; readonly disks?: readonly DiskRecord[] },
  goal: Partial<InstanceGoal> = {},
): StepSubject {
  const instance = { vms: [], disks: [], ...has } as unknown as InstanceRecord;
  return {
    instance,
    goal: {
      desired: WANTED,
      changes: [],
      unresponsive: false,
      recorded: instance,
      diskMayBeReplaced: false,
      ...goal,
    } as InstanceGoal,
    watchMs: [0, 0],
  };
}

describe("which VM a step is about", () => {
  const active = vm("old", { active: true });
  const made = vm("new");

  it("the one that is being made, before the one in use", () => {
    const { instance } = subject({ vms: [active, made] });
    expect([newVm(instance)?.cid, currentVm(instance)?.cid]).toEqual(["new", "new"]);
    expect(currentVm(subject({ vms: [active] }).instance)?.cid).toBe("old");
  });

  it.each([
    [
      "is kept while the active one does not fit",
      [{ ...active, cloudProperties: { cpu: 1 } }, made],
      {},
      undefined,
    ],
    [
      "is kept when the active one is to be replaced",
      [active, made],
      { changes: [{ kind: "recreate" }] },
      undefined,
    ],
    ["is unused when the active one is what is wanted", [active, made], {}, "new"],
    [
      "is unused when something else is wanted",
      [active, { ...made, cloudProperties: { cpu: 9 } }],
      {},
      "new",
    ],
    ["is unused when the instance goes", [active, made], { desired: undefined }, "new"],
    [
      "is unused when the instance is to be without a VM",
      [made],
      { desired: { ...WANTED, state: "detached" } },
      "new",
    ],
    ["is never the active one", [{ ...active, cloudProperties: { cpu: 9 } }], {}, undefined],
  ] as const)("a VM that was made %s", (_, vms, plan, cid) => {
    expect(unusedVm(subject({ vms }, plan as Partial<InstanceGoal>))?.cid).toBe(cid);
  });

  it("an agent that did not answer is not asked, the one of the VM in its place is", () => {
    const recorded = subject({ vms: [active] }).instance;
    expect(isAgentResponsive(active, subject({}, { unresponsive: true, recorded }))).toBe(false);
    expect(isAgentResponsive(made, subject({}, { unresponsive: true, recorded }))).toBe(true);
    expect(isAgentResponsive(active, subject({}, { recorded }))).toBe(true);
  });
});

describe("which disk a step is about", () => {
  const cids = (disks: readonly { readonly cid: DiskCid }[]) => disks.map(({ cid }) => cid);
  const without = { desired: { ...WANTED, persistentDisk: null } };

  it.each([
    ["made after the active one, as wanted", [disk(1, { active: true, size: 1 }), disk(2)], "disk-2", []],
    ["not the predecessor of the active one", [disk(1), disk(2, { active: true })], undefined, ["disk-1"]],
    [
      "not one of another size",
      [disk(1, { active: true, size: 1 }), disk(2, { size: 7 })],
      undefined,
      ["disk-2"],
    ],
    [
      "the last of several; the others are left over",
      [disk(1, { active: true, size: 1 }), disk(2), disk(3)],
      "disk-3",
      ["disk-2"],
    ],
    ["the first of an instance", [disk(1)], "disk-1", []],
  ] as const)("the one that takes over: %s", (_, disks, next, old) => {
    const given = subject({ disks }, replacing);
    expect(newDisk(given)?.cid).toBe(next);
    expect(cids(disksToOrphan(given))).toEqual(old);
  });

  it.each([
    ["goes where none is replaced: its change was given up", false, ["disk-2"]],
    ["stays where one may be, also where the CPI is asked first", true, []],
  ] as const)("one that an unfinished change has left %s", (_, diskMayBeReplaced, old) => {
    const disks = [disk(1, { active: true }), disk(2)];
    expect(cids(disksToOrphan(subject({ disks }, { diskMayBeReplaced })))).toEqual(old);
  });

  it("all are old when none is wanted, the active one too", () => {
    const disks = [disk(1, { active: true }), disk(2)];
    expect(cids(disksToOrphan(subject({ disks }, without)))).toEqual(["disk-1", "disk-2"]);
    expect(cids(disksToOrphan(subject({ disks }, { desired: undefined })))).toEqual(["disk-1", "disk-2"]);
  });
});
