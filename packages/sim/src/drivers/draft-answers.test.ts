import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask } from "../crash/scenarios/tasks.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

const WITH_DISK = deployTask({ name: "shop", groups: [{ name: "db", instances: 1, disk: "d1" }] });
const WITHOUT = deployTask({ name: "shop", groups: [{ name: "db", instances: 1 }] });

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  await bench.prepare({ cpi: { remembers: true }, before: [WITH_DISK] });
});
afterAll(() => bench.close());
beforeEach(() => bench.rewind());

/** A CPI of the draft in which detach_disk is told of the disks, and says which are left. */
const saysWhatIsLeft = (left: object, told: unknown[]): Interference => ({
  cpi: (call, carryOut) => {
    if (call.peer !== "cpi") return undefined;
    if (call.method === "info") return announcing(carryOut);
    if (call.method !== "detach_disk") return undefined;
    const [, cid, disks] = call.request.arguments;
    told.push(disks);
    const disk = bench.world.disks.get(String(cid));
    if (disk !== undefined) disk.attachedTo = null;
    return Promise.resolve({ result: left, error: null, log: "" } as unknown as CpiResponse);
  },
});

async function announcing(carryOut: () => Promise<CpiResponse>): Promise<CpiResponse> {
  const reply = await carryOut();
  const info = { ...(reply.result as object), capabilities: { detach_disk_returns_disks: true } };
  return { ...reply, result: info } as unknown as CpiResponse;
}

const recorded = async () =>
  (await bench.remembered()).instances.flatMap(({ vms }) =>
    vms.map((vm) => (vm as { disks?: unknown }).disks),
  );

describe("what detach_disk answers in the draft", () => {
  it("is what is recorded of the VM's disks", async () => {
    const left = { system: "/dev/sda", ephemeral: "/dev/sdz", persistent: {} };
    const [before] = await recorded();
    const told: unknown[] = [];
    const interference = saysWhatIsLeft(left, told);
    const { state, message } = await bench.run(WITHOUT, { seed: "left", interference });
    expect(`${state} ${message}`).toBe("done ");
    expect(told).toEqual([before]);
    expect(await recorded()).toEqual([left]);
  });

  it("is not made up for a CPI that says nothing", async () => {
    const [before] = await recorded();
    expect((await bench.run(WITHOUT, { seed: "plain" })).state).toBe("done");
    expect(await recorded()).toEqual([{ ...(before as object), persistent: {} }]);
  });
});
