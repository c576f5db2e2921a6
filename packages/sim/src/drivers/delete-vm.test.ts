import { readOutput } from "@slipway/director/tasks/output";
import { activeVm } from "@slipway/engine/model/records";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask, small, taskOf } from "../crash/scenarios/tasks.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  await bench.prepare({ cpi: { remembers: true }, before: [deployTask(small)] });
});
afterAll(() => bench.close());
beforeEach(() => bench.rewind());

const NOT_FOUND: Interference = {
  cpi: ({ method }) =>
    method === "delete_vm"
      ? Promise.resolve({
          result: null,
          error: { type: "Bosh::Clouds::VMNotFound", message: "no such VM", ok_to_retry: false },
          log: "",
        })
      : undefined,
};
const deleted = async (cid: string, interference: Interference = {}) => {
  const ended = await bench.run(taskOf("delete_vm", { vm_cid: cid }), { seed: cid, interference });
  expect([ended.state, ended.result]).toEqual(["done", `vm ${cid} deleted`]);
  return (await readOutput(bench.db, ended.id, "event")).data.toString();
};
const vmOfDb = async () => {
  const instance = (await bench.remembered()).instances.find(({ group }) => group === "db");
  return (instance && activeVm(instance)?.cid) ?? "";
};

describe("delete-vm, in upstream's words", () => {
  it("reports that an existing VM is deleted", async () => {
    const cid = await vmOfDb();
    expect(await deleted(cid)).toContain(`VM ${cid} is successfully deleted`);
    expect(bench.world.vms.has(cid)).toBe(false);
    expect(await vmOfDb()).toBe("");
  });

  it("reports that a missing VM does not exist, recorded or not, and forgets it", async () => {
    const cid = await vmOfDb();
    for (const one of [cid, "vm-nobody-has"]) {
      const said = await deleted(one, NOT_FOUND);
      expect(said).toContain(`VM ${one} does not exist. Deletion is skipped`);
      expect(said).not.toContain("successfully");
    }
    expect(await vmOfDb()).toBe("");
  });
});
