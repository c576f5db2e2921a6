import type { GroupName } from "@slipway/engine/model/names";
import type { DiskRecord, InstanceRecord, VmRecord } from "@slipway/engine/model/records";
import type { AgentReport } from "@slipway/engine/plan/model";
import type { AgentId, DiskCid, StemcellCid, VmCid } from "@slipway/protocol/ids";
import { describe, expect, it } from "vitest";
import type { EnvManifest } from "./manifest/model.ts";
import { desiredInstance, planEnv } from "./plan.ts";
import { INSTANCE } from "./state/store.ts";

const MANIFEST: EnvManifest = {
  name: "lab",
  group: "bosh",
  stemcell: { url: "file:///s.tgz", sha1: undefined },
  releases: [],
  jobs: [],
  properties: {},
  cloudProperties: {},
  env: {},
  tags: {},
  networks: { default: { type: "manual", ip: "10.0.0.6" } },
  persistentDisk: { size: 64, cloudProperties: {} },
  watchMs: [0, 1],
  cloudProvider: {
    cpi: { kind: "package", name: "local" },
    properties: {},
    mbus: undefined,
    cert: undefined,
    registry: { host: undefined, sshTunnel: false },
  },
};
const STEMCELL = { id: "s", name: "n", version: "1", api_version: 3, cid: "sc" as StemcellCid };

const vm = (id: number, more: Partial<VmRecord> = {}): VmRecord => ({
  id,
  cid: `vm-${id}` as VmCid,
  agentId: `agent-${id}` as AgentId,
  active: true,
  cpi: "",
  createdAt: 0,
  stemcell: { name: "n", version: "1", apiVersion: 3 },
  apiVersion: 3,
  channel: "user-data",
  env: {},
  cloudProperties: {},
  networks: MANIFEST.networks,
  disks: {},
  agentUrl: "https://10.0.0.6:6868",
  certificateUntil: null,
  ready: true,
  ...more,
});

const disk = (id: number, attachedTo: VmRecord | null, more: Partial<DiskRecord> = {}): DiskRecord => ({
  id,
  cid: `disk-${id}` as DiskCid,
  size: 64,
  cloudProperties: {},
  cpi: "",
  active: true,
  attachedTo: attachedTo?.cid ?? null,
  hint: null,
  mounted: attachedTo !== null,
  ...more,
});

const ANSWERS: AgentReport = { responsive: true, jobState: "running", networks: {} };
const SILENT: AgentReport = { responsive: false, why: "dead" };

interface Given {
  readonly vms?: readonly VmRecord[];
  readonly disks?: readonly DiskRecord[];
  readonly agent?: AgentReport;
  readonly firstId?: number;
  readonly renewDisks?: boolean;
  readonly recreate?: boolean;
  readonly manifest?: Partial<EnvManifest>;
}

function steps(given: Given): readonly string[] {
  const recorded: InstanceRecord = {
    id: 1,
    uuid: INSTANCE,
    group: "bosh" as GroupName,
    index: 0,
    az: "unknown",
    state: "started",
    bootstrap: true,
    ignore: false,
    updateCompleted: false,
    spec: null,
    vms: given.vms ?? [],
    disks: given.disks ?? [],
    ips: [],
  };
  const plan = planEnv({
    recorded,
    desired: desiredInstance({ ...MANIFEST, ...given.manifest }, STEMCELL, "os"),
    agent: given.agent,
    attempt: {
      digest: "d",
      firstId: given.firstId ?? 100,
      recreate: false,
      renewDisks: given.renewDisks ?? false,
    },
    skipDrain: false,
    recreate: given.recreate ?? false,
  });
  return plan.steps.flatMap(({ name, condition }) => (condition === undefined ? [name] : []));
}

describe("the plan of an environment", () => {
  it("makes a missing VM and disk", () => {
    expect(steps({})).toEqual([
      "create_vm",
      "set_vm_metadata",
      "wait_for_agent",
      "activate_vm",
      "prepare_agent",
      "create_disk",
      "attach_new_disk",
      "mount_new_disk",
      "switch_disk",
      "apply",
      "start",
      "save_instance",
    ]);
  });

  it("replaces a VM that is older than the attempt, even one that would do", () => {
    const old = vm(1);
    expect(steps({ vms: [old], disks: [disk(2, old)], agent: ANSWERS }).slice(0, 9)).toEqual([
      "stop",
      "unmount_disk",
      "detach_disk",
      "delete_vm",
      "create_vm",
      "set_vm_metadata",
      "wait_for_agent",
      "activate_vm",
      "attach_disk",
    ]);
  });

  it.each([
    ["an agent that does not answer", SILENT],
    ["nobody asked", undefined],
  ])("asks nothing of the old VM: %s", (_, agent) => {
    const old = vm(1);
    const names = steps({ vms: [old], disks: [disk(2, old)], ...(agent && { agent }) });
    expect(names[0]).toBe("delete_vm");
    expect(names).not.toContain("detach_disk");
  });

  it("goes on with the VM and the disk this attempt has made before it was interrupted", () => {
    const made = vm(101);
    const names = steps({ vms: [made], disks: [disk(2, made)], agent: ANSWERS });
    expect(names).toEqual(["set_vm_metadata", "apply", "start", "save_instance"]);
    expect(steps({ vms: [made], disks: [disk(2, made)], agent: SILENT })[0]).toBe("delete_vm");
    expect(steps({ vms: [vm(101, { active: false, ready: false })], disks: [disk(2, null)] })[1]).toBe(
      "wait_for_agent",
    );
    const fresh = disk(102, made, { active: false, size: 128 });
    const larger = { persistentDisk: { size: 128, cloudProperties: {} } };
    expect(steps({ vms: [made], disks: [disk(2, made), fresh], agent: ANSWERS, manifest: larger })).toEqual(
      expect.arrayContaining(["migrate_disk", "detach_old_disk", "orphan_disk"]),
    );
    expect(
      steps({ vms: [made], disks: [disk(2, made), fresh], agent: ANSWERS, manifest: larger }),
    ).not.toContain("create_disk");
  });

  it("waits again for the agent of a VM that this attempt has made, and replaces it where that was in vain", () => {
    const made = [vm(101, { active: false, ready: false })];
    const again = ["set_vm_metadata", "wait_for_agent"];
    const anew = ["delete_unused_vm", "create_vm", ...again];
    expect(steps({ vms: made }).slice(0, 2)).toEqual(again);
    expect(steps({ vms: made, recreate: true }).slice(0, 4)).toEqual(anew);
    // The manifest has changed since, in something that the VM does not show.
    expect(steps({ vms: made, firstId: 102 }).slice(0, 4)).toEqual(anew);
  });

  it("replaces what this attempt has made once something else is wanted", () => {
    const made = vm(101);
    const names = steps({ vms: [made], disks: [disk(2, made)], agent: ANSWERS, manifest: { env: { a: 1 } } });
    expect(names).toEqual(expect.arrayContaining(["delete_vm", "create_vm"]));
  });

  it("recreates disks once per attempt", () => {
    const made = vm(101);
    const renew = { vms: [made], agent: ANSWERS, renewDisks: true };
    expect(steps({ ...renew, disks: [disk(2, made)] })).toContain("migrate_disk");
    expect(steps({ ...renew, disks: [disk(102, made)] })).not.toContain("migrate_disk");
  });

  it("never takes away, copies or deletes a disk the manifest has not", () => {
    const old = vm(1);
    const names = steps({
      vms: [old],
      disks: [disk(2, old)],
      agent: ANSWERS,
      manifest: { persistentDisk: null },
    });
    for (const name of ["attach_disk", "orphan_disk", "create_disk", "migrate_disk"])
      expect(names).not.toContain(name);
    expect(names).toEqual(expect.arrayContaining(["unmount_disk", "detach_disk"]));
  });
});
