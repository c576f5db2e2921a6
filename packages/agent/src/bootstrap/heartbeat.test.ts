import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemRandom } from "@slipway/kernel/random";
import { heartbeat } from "@slipway/protocol/agent/heartbeat";
import { matches } from "@slipway/protocol/schema/check";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import type { Supervisor } from "../services.ts";
import { tools } from "../settings/testing/settings-lab.ts";
import { fileSpecStore } from "../state/spec-store.ts";
import { beat, heartbeatOf } from "./heartbeat.ts";
import { FakeVm, VITALS } from "./testing/fake-vm.ts";

const running: Supervisor = {
  status: async () => ({
    state: "running",
    processes: [
      { name: "web", state: "running" },
      { name: "worker", state: "running" },
    ],
  }),
  watch: async () => {},
  unmonitor: async () => {},
  start: async () => {},
  stop: async () => {},
};

async function here(supervisor = running) {
  const t = await tools();
  const spec = fileSpecStore(t.paths.spec, { random: systemRandom, log: t.log });
  return { ...t, clock: fakeClock(), spec, supervisor, platform: new FakeVm().platform };
}

describe("heartbeats", () => {
  it("carry nulls before the first apply and the spec's words after it", async () => {
    const parts = await here();
    const before = await heartbeatOf(parts);
    expect(matches(heartbeat, before)).toBe(true);
    expect(before).toMatchObject({ job: null, index: null, job_state: "running", number_of_processes: 2 });
    await parts.spec.save({ deployment: "shop", job: { name: "api" }, index: 0, id: "6f2f" });
    expect(await heartbeatOf(parts)).toEqual({
      deployment: "shop",
      job: "api",
      index: 0,
      job_state: "running",
      node_id: "6f2f",
      number_of_processes: 2,
      vitals: VITALS,
    });
  });

  it("say when the supervisor cannot be asked", async () => {
    const parts = await here({ ...running, status: () => Promise.reject(new Error("down")) });
    expect(await heartbeatOf(parts)).toMatchObject({ job_state: "unknown", number_of_processes: null });
  });

  it("are sent at once and every 30 seconds until the end, also after one could not be sent", async () => {
    const parts = await here();
    const ending = new AbortController();
    let sent = 0;
    const publish = async () => {
      if (++sent === 2) throw new Error("bus away");
    };
    const beating = beat({ ...parts, publish }, ending.signal);
    await expect.poll(() => parts.clock.waiting).toBe(1);
    expect(sent).toBe(1);
    for (const expected of [2, 3, 4]) {
      await parts.clock.advance(30_000);
      await expect.poll(() => parts.clock.waiting).toBe(1);
      expect(sent).toBe(expected);
    }
    ending.abort();
    await beating;
    expect(parts.log.lines).toEqual(["heartbeats cannot be sent: bus away", "heartbeats are sent again"]);
    expect(await readFile(join(parts.paths.instanceDir, "health.json"), "utf8")).toBe('{"state":"running"}');
  });
});
