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

describe("a dry run", () => {
  const made = next(deployed(before), after);

  it("tells which calls are made, why, and who is down for what", () => {
    const lines = describePlan(made);
    expect(lines).toEqual(
      expect.arrayContaining([
        "Deleting unneeded instances",
        "    why: instance group 'gone' is no longer in the manifest",
        "Creating missing vms",
        "At the same time: db, web",
        "Updating canaries of 'db', 1 at once",
        "  db/u000001 (0): recreate",
        "    why: cloud properties changed: cpu",
        "    why: env changed: bosh.password",
        "    down: while its VM is replaced",
        "    stop [agent stop, agent run_script post-stop]: its jobs must not run while the VM is replaced",
        "    delete_vm [cpi delete_vm]: cloud properties changed: cpu; env changed: bosh.password",
        "    create_vm [cpi create_vm]: new instance",
        "    down: for good: it is deleted",
        "2 instances unchanged.",
      ]),
    );
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
    expect(JSON.stringify([describePlan(made), planAsJson(made)])).not.toContain("S3CRET");
  });

  it("of no change says so", () => {
    expect(describePlan(next(deployed(before), before))).toEqual([
      "Nothing to change.",
      "4 instances unchanged.",
    ]);
  });
});
