import { readOutput } from "@slipway/director/tasks/output";
import type { NewTask } from "@slipway/director/tasks/task";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask } from "../crash/scenarios/tasks.ts";
import { Bench } from "./testing/bench.ts";

const task = (params: NewTask["params"]): NewTask => ({
  ...{ type: "renew_certificates", description: "renew certificates", user: "admin", params },
});
const ROTATE = task({ rotate_nats_ca: "now" });
const RENEW = task({});
const shop = (instances: number, vmType = "small") =>
  deployTask({ name: "shop", groups: [{ name: "web", instances, vmType }] });

describe("another authority on NATS", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open({ nats: true });
    await bench.prepare({ cpi: { remembers: true }, before: [shop(2)] });
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.rewind());

  const cids = () => [...bench.world.vms.keys()].sort();
  const trusts = () => [...bench.world.vms.values()].map(({ agent }) => agent.trust);
  const agentOf = async (index: number) => {
    const { instances } = await bench.remembered();
    const found = instances.find((one) => one.index === index);
    return {
      agentId: String(found?.vms[0]?.agentId),
      name: `web/${found?.uuid} of shop`,
      uuid: found?.uuid ?? "",
    };
  };
  const warnings = async (id: number) => (await readOutput(bench.db, id, "event")).data.toString();
  const only = (id: number) => ({ believes: [String(id)], signer: String(id) });
  const BOTH = (id: number) => ({ shows: "", believes: ["", String(id)] });

  it("takes over with every VM as it was, and the old one is dropped by all", async () => {
    const before = cids();
    const { id, state, result } = await bench.run(ROTATE, { seed: "all" });
    expect([state, result]).toEqual([
      "done",
      "4 certificates renewed, 0 left; another authority has taken over on NATS",
    ]);
    expect(bench.world.bus).toEqual({ shows: String(id), believes: [String(id)] });
    expect(trusts()).toEqual([only(id), only(id)]);
    expect(cids()).toEqual(before);
    expect(await bench.broken()).toEqual([]);
    const again = await bench.run(RENEW, { seed: "again" });
    expect(again.result).toBe("0 certificates renewed, 0 left");
  });

  it("waits for an agent that is away: no agent is cut off, the task names it, and the next one goes on", async () => {
    const away = await agentOf(1);
    bench.world.deaf.add(away.agentId);
    const { id, state, result } = await bench.run(ROTATE, { seed: "away" });
    expect([state, result]).toEqual([
      "done",
      "1 certificates renewed, 1 left; the old authority of NATS stays for 1 more",
    ]);
    expect(await warnings(id)).toContain(`These have not: ${away.name}.`);
    expect(bench.world.bus).toEqual(BOTH(id));
    const still = await bench.run(RENEW, { seed: "still" });
    expect(still.result).toContain("0 certificates renewed, 1 left; the old authority of NATS stays");
    expect(bench.world.bus).toEqual(BOTH(id));
    bench.world.deaf.clear();
    const back = await bench.run(RENEW, { seed: "back" });
    expect(back.result).toBe("3 certificates renewed, 0 left; another authority has taken over on NATS");
    expect(trusts()).toEqual([only(id), only(id)]);
    expect(await bench.broken()).toEqual([]);
  });

  it("waits for an instance that is ignored, and says so", async () => {
    const { uuid, name } = await agentOf(0);
    const ignore = (to: boolean) =>
      bench.db.updateTable("instances").set({ ignore: to }).where("uuid", "=", uuid).execute();
    await ignore(true);
    const { id } = await bench.run(ROTATE, { seed: "ignored" });
    expect(await warnings(id)).toContain(`${name}, which is ignored`);
    await ignore(false);
    const { result: then } = await bench.run(RENEW, { seed: "then" });
    expect(then).toContain("another authority has taken over");
  });

  it("is known to VMs that are made meanwhile, which are not asked for once more", async () => {
    const away = await agentOf(0);
    bench.world.deaf.add(away.agentId);
    const { id } = await bench.run(ROTATE, { seed: "away" });
    bench.world.deaf.clear();
    await bench.run(shop(3), { seed: "more" });
    expect(trusts()).toContainEqual({ believes: ["", String(id)], signer: String(id) });
    const { result } = await bench.run(RENEW, { seed: "rest" });
    expect(result).toBe("4 certificates renewed, 0 left; another authority has taken over on NATS");
    expect(await bench.broken()).toEqual([]);
  });

  it("ends with one authority for all if requested twice at once, and no agent is cut off", async () => {
    await bench.runAll([ROTATE, ROTATE], { seed: "twice" });
    await bench.run(RENEW, { seed: "after" });
    const { shows, believes } = bench.world.bus;
    expect(believes).toEqual([shows]);
    expect(trusts()).toEqual([only(Number(shows)), only(Number(shows))]);
    expect(await bench.broken()).toEqual([]);
  });
});

it("is refused by a Director whose agents are not on a server of its own", async () => {
  const bench = await Bench.open();
  try {
    const { state, message } = await bench.run(ROTATE, { seed: "none" });
    expect([state, message]).toEqual([
      "error",
      expect.stringContaining("cannot rotate the authority of NATS"),
    ]);
  } finally {
    await bench.close();
  }
});
