import { describe, expect, it } from "vitest";
import { describePlan, planAsJson } from "./dry-run.ts";
import { group, manifest, update } from "./testing/builders.ts";
import { deployed, next } from "./testing/world.ts";

const before = {
  manifest: manifest([
    group("db", 1, { persistentDisk: { type: "d1" }, env: { bosh: { password: "OLD-S3CRET" } } }),
    group("web", 2),
    group("gone", 1),
  ]),
};
const after = {
  manifest: manifest([
    group("db", 1, {
      persistentDisk: { type: "d1" },
      vmType: "large",
      env: { bosh: { password: "NEW-S3CRET" } },
      update: update({ serial: false }),
    }),
    group("web", 3, { update: update({ serial: false }) }),
  ]),
  options: { skipDrain: ["db"] },
};

const WHOLE = `Deleting unneeded instances
  gone/u000004 (0): delete
    why: instance group 'gone' is no longer in the manifest
    down: for good: it is deleted
    stop [agent run_script pre-stop, agent drain, agent stop, agent run_script post-stop]: instance group 'gone' is no longer in the manifest
    delete_vm [cpi delete_vm]: instance group 'gone' is no longer in the manifest
    delete_instance: instance group 'gone' is no longer in the manifest
Creating missing vms
  web/u000014 (2): create
    why: new instance
    down: no
    create_vm [cpi create_vm]: new instance
    set_vm_metadata [cpi set_vm_metadata]: a new VM is told who it is
    wait_for_agent [agent ping]: a new VM boots
    activate_vm: it is the instance's VM from now on
    prepare_agent [agent update_settings, agent apply, agent get_state]: a new agent gets its settings
    delete_unused_vm [cpi delete_vm], only if the agent of the new VM cannot be used: a VM whose agent cannot be used is of no use
At the same time: db, web
Updating canaries of 'db', 1 at once
  db/u000001 (0): recreate
    why: cloud properties changed: cpu
    why: env changed: bosh.password
    down: while its VM is replaced
    stop [agent stop, agent run_script post-stop]: its jobs must not run while the VM is replaced
    unmount_disk [agent list_disk, agent unmount_disk]: its data is written out before the VM goes
    detach_disk [agent remove_persistent_disk, cpi detach_disk]: the disk outlives the VM
    delete_vm [cpi delete_vm]: cloud properties changed: cpu; env changed: bosh.password
    create_vm [cpi create_vm]: cloud properties changed: cpu; env changed: bosh.password
    set_vm_metadata [cpi set_vm_metadata]: a new VM is told who it is
    wait_for_agent [agent ping]: a new VM boots
    activate_vm: it is the instance's VM from now on
    attach_disk [cpi attach_disk]: disk 'disk-13' holds its data
    mount_disk [agent add_persistent_disk, cpi set_disk_metadata, agent mount_disk]: disk 'disk-13' holds its data
    prepare_agent [agent update_settings, agent apply, agent get_state]: a new agent gets its settings
    apply [agent apply]: cloud properties changed: cpu; env changed: bosh.password
    start [agent run_script pre-start, agent start, agent get_state, agent run_script post-start]: its jobs are to run
    save_instance: what it was brought to is remembered
    delete_unused_vm [cpi delete_vm], only if the agent of the new VM cannot be used: a VM whose agent cannot be used is of no use
Updating canaries of 'web', 1 at once
  web/u000014 (2): create
    why: new instance
    down: no
    apply [agent apply]: new instance
    start [agent run_script pre-start, agent start, agent get_state, agent run_script post-start]: its jobs are to run
    save_instance: what it was brought to is remembered
Plan: 1 to delete, 1 to create, 1 to recreate, 2 instances unchanged.
`;

const SUMMARY = `Delete
  - gone/u000004 (0): instance group 'gone' is no longer in the manifest; down for good: it is deleted
Create
  + web/u000014 (2): new instance; no downtime
Recreate: a new VM, the same disks
  -/+ db/u000001 (0): cloud properties changed: cpu; env changed: bosh.password; down while its VM is replaced
Plan: 1 to delete, 1 to create, 1 to recreate, 2 instances unchanged.
`;

describe("a dry run", () => {
  const made = next(deployed(before), after);

  it("has a line for each instance, by effect, and totals", () => {
    expect(`${describePlan(made).join("\n")}\n`).toBe(SUMMARY);
  });

  it("tells which calls are made, why, and which instance is down for what, if steps are asked for", () => {
    expect(`${describePlan(made, { steps: true }).join("\n")}\n`).toBe(WHOLE);
  });

  it("says the same to programs", () => {
    const json = planAsJson(made) as unknown as {
      readonly unchanged: number;
      readonly groups: readonly (readonly {
        readonly group: string;
        readonly batches: readonly unknown[];
      }[])[];
    };
    expect(json.unchanged).toBe(2);
    expect(json.groups.map((list) => list.map((one) => one.group))).toEqual([["db", "web"]]);
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
  });

  it("tells no secret", () => {
    expect(
      JSON.stringify([describePlan(made), describePlan(made, { steps: true }), planAsJson(made)]),
    ).not.toContain("S3CRET");
  });

  it("says that there is nothing to change", () => {
    expect(describePlan(next(deployed(before), before))).toEqual([
      "Nothing to change: 4 instances unchanged.",
    ]);
  });
});
