import type { NewTask } from "@slipway/director/tasks/task";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask } from "../crash/scenarios/tasks.ts";
import { cpiError } from "./faults.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference, OutsideCall } from "./watch-clients.ts";

const DAY_MS = 86_400_000;

const scheduled = (type: "delete_orphaned_vms" | "renew_certificates"): NewTask => ({
  type,
  description: type.replaceAll("_", " "),
  user: "scheduler",
  params: {},
});

const group = (name: string, instances: number, vmType = "small") => ({ name, instances, vmType });

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

const changesOf = (calls: readonly OutsideCall[], peer: OutsideCall["peer"], method: string) =>
  calls.filter((call) => call.peer === peer && call.method === method);

/** Returns the events of completed VM deletions. */
const deletedEvents = async (taskId: number) =>
  (
    await bench.db
      .selectFrom("events")
      .select(["action", "object_type", "object_name", "deployment", "error"])
      .where("task_id", "=", taskId)
      .where("object_type", "=", "vm")
      .where("parent_id", "is not", null)
      .orderBy("object_name")
      .execute()
  ).map((event) => ({ ...event }));

describe("the task that deletes what create-swap-delete has left", () => {
  const DELETE = scheduled("delete_orphaned_vms");
  let left: readonly string[];
  const swapping = (vmType: string) =>
    deployTask({ name: "shop", groups: [group("web", 2, vmType)], swap: true });
  beforeAll(() => bench.prepare({ cpi: { remembers: true }, before: [swapping("small")] }));
  beforeEach(async () => {
    await bench.rewind();
    await bench.run(swapping("big"), { seed: "swapped" });
    left = [...(await bench.remembered()).orphanedVms].sort();
  });

  const refuses = (cid: string | undefined, type: string): Interference => ({
    cpi: (call, carryOut) =>
      call.peer === "cpi" && call.method === "delete_vm" && call.request.arguments[0] === cid
        ? Promise.resolve(cpiError(type, "no"))
        : carryOut(),
  });

  it("deletes each in the cloud and in the records, frees its addresses, and leaves an event", async () => {
    expect(left).toHaveLength(2);
    expect([...bench.world.vms.keys()]).toEqual(expect.arrayContaining([...left]));
    const { id, state, result, calls } = await bench.run(DELETE, { seed: "all" });
    expect([state, result]).toEqual(["done", "2 orphaned VMs deleted, 0 left"]);
    expect(changesOf(calls, "cpi", "delete_vm")).toHaveLength(2);
    expect([...bench.world.vms.keys()].filter((cid) => left.includes(cid))).toEqual([]);
    expect((await bench.remembered()).orphanedVms).toEqual([]);
    const addresses = await bench.db
      .selectFrom("ip_addresses")
      .select("address")
      .where("orphaned_vm_id", "is not", null)
      .execute();
    expect(addresses).toEqual([]);
    expect(await deletedEvents(id)).toEqual(
      left.map((cid) => ({
        action: "delete",
        object_type: "vm",
        object_name: cid,
        deployment: "shop",
        error: null,
      })),
    );
    expect(await bench.broken()).toEqual([]);
  });

  it("is done with one that the cloud no longer has", async () => {
    const [gone = "", ...rest] = left;
    bench.world.vms.delete(gone);
    const { result } = await bench.run(DELETE, {
      seed: "gone",
      interference: refuses(gone, "Bosh::Clouds::VMNotFound"),
    });
    expect(result).toBe("2 orphaned VMs deleted, 0 left");
    expect((await bench.remembered()).orphanedVms).toEqual([]);
    expect([...bench.world.vms.keys()].filter((cid) => rest.includes(cid))).toEqual([]);
  });

  it("keeps one that the cloud does not delete, deletes the others, and is done with it next time", async () => {
    const [stubborn = "", other = ""] = left;
    const first = await bench.run(DELETE, {
      seed: "stubborn",
      interference: refuses(stubborn, "Bosh::Clouds::CloudError"),
    });
    expect([first.state, first.result]).toEqual(["done", "1 orphaned VMs deleted, 1 left"]);
    expect((await bench.remembered()).orphanedVms).toEqual([stubborn]);
    expect([...bench.world.vms.keys()].filter((cid) => left.includes(cid))).toEqual([stubborn]);
    const ended = (await deletedEvents(first.id)).map(({ object_name: cid, error }) => [cid, error]);
    expect(Object.fromEntries(ended)).toEqual({ [stubborn]: expect.stringContaining("no"), [other]: null });
    const second = await bench.run(DELETE, { seed: "again" });
    expect(second.result).toBe("1 orphaned VMs deleted, 0 left");
    expect((await bench.remembered()).orphanedVms).toEqual([]);
    expect(await bench.broken()).toEqual([]);
  });
});

describe("the task that renews certificates", () => {
  const RENEW = scheduled("renew_certificates");
  beforeAll(() =>
    bench.prepare({
      cpi: { remembers: true },
      before: [deployTask({ name: "shop", groups: [group("web", 2), group("db", 1)] })],
    }),
  );
  beforeEach(() => bench.rewind());

  const vmsOf = async () => {
    const { instances } = await bench.remembered();
    return instances.flatMap(({ group: of, index, vms }) =>
      vms.filter(({ active }) => active).map((vm) => ({ name: `${of}/${index}`, ...vm })),
    );
  };
  /** The certificates of these end tomorrow. */
  async function endSoon(...names: readonly string[]): Promise<void> {
    for (const { name, cid } of await vmsOf())
      if (names.includes(name))
        await bench.db
          .updateTable("vms")
          .set({ certificate_until: new Date(Date.now() + DAY_MS) })
          .where("cid", "=", cid)
          .execute();
  }
  const endingSoon = async () =>
    (await vmsOf())
      .filter(({ certificateUntil }) => (certificateUntil ?? 0) < Date.now() + 30 * DAY_MS)
      .map(({ name }) => name)
      .sort();
  const asked = async (calls: readonly OutsideCall[]) => {
    const names = new Map((await vmsOf()).map(({ agentId, name }) => [String(agentId), name]));
    return changesOf(calls, "agent", "update_settings").map((call) =>
      call.peer === "agent" ? names.get(call.agentId) : "",
    );
  };

  it("gives new ones to those agents whose certificate ends soon, and to no other", async () => {
    await endSoon("web/0", "db/0");
    expect(await endingSoon()).toEqual(["db/0", "web/0"]);
    const { state, result, calls } = await bench.run(RENEW, { seed: "soon" });
    expect([state, result]).toEqual(["done", "2 certificates renewed, 0 left"]);
    expect((await asked(calls)).sort()).toEqual(["db/0", "web/0"]);
    expect(await endingSoon()).toEqual([]);
    expect(await bench.broken()).toEqual([]);
    const again = await bench.run(RENEW, { seed: "again" });
    expect([again.result, again.calls]).toEqual(["0 certificates renewed, 0 left", []]);
  });

  it("leaves one that does not answer for the next time, and renews the others", async () => {
    await endSoon("web/0", "web/1");
    const deaf = (await vmsOf()).find(({ name }) => name === "web/0");
    const { state, result } = await bench.run(RENEW, {
      seed: "deaf",
      interference: {
        ask: (call, carryOut) =>
          call.peer === "agent" && call.agentId === deaf?.agentId
            ? Promise.resolve({ silent: "it hangs" })
            : carryOut(),
      },
    });
    expect([state, result]).toEqual(["done", "1 certificates renewed, 1 left"]);
    expect(await endingSoon()).toEqual(["web/0"]);
    const again = await bench.run(RENEW, { seed: "again" });
    expect(again.result).toBe("1 certificates renewed, 0 left");
    expect(await endingSoon()).toEqual([]);
  });

  it("lets an instance alone that is ignored", async () => {
    await endSoon("web/1");
    const [ignored] = (await bench.remembered()).instances.filter(
      ({ index, group: of }) => of === "web" && index === 1,
    );
    await bench.db
      .updateTable("instances")
      .set({ ignore: true })
      .where("uuid", "=", ignored?.uuid ?? "")
      .execute();
    const { result, calls } = await bench.run(RENEW, { seed: "ignored" });
    expect([result, calls]).toEqual(["0 certificates renewed, 0 left", []]);
    expect(await endingSoon()).toEqual(["web/1"]);
  });
});
