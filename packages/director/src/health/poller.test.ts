import { type Agent, AgentSilent, type Agents } from "@slipway/engine/agents/agent";
import type { AgentId } from "@slipway/protocol/ids";
import { type FakeClock, fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { AwakeTime } from "./awake.ts";
import { Poller } from "./poller.ts";
import { Sightings } from "./sightings.ts";
import { vmOf } from "./testing/samples.ts";

const AT_ONCE = 4;

/** Polls so many agents. Dead ones do not answer; the others say that all is well. */
function polling(count: number, isDead: (index: number) => boolean = () => false, shortage?: Error) {
  const clock: FakeClock = fakeClock({ start: 0 });
  const awake = new AwakeTime(clock);
  const sightings = new Sightings(awake, clock);
  const asked = new Map<string, number>();
  const errors: unknown[] = [];
  const busy = { now: 0, most: 0 };
  const vms = Array.from({ length: count }, (_, index) => vmOf(String(index)));
  const agentOf = (agentId: AgentId) =>
    ({
      getState: async () => {
        asked.set(agentId, (asked.get(agentId) ?? 0) + 1);
        busy.now += 1;
        busy.most = Math.max(busy.most, busy.now);
        const dead = isDead(Number(agentId.slice("agent-".length)));
        await clock.sleep(dead ? 10_000 : 5);
        busy.now -= 1;
        if (dead) throw new AgentSilent("it hangs", shortage === undefined ? undefined : { cause: shortage });
        return { jobState: "running", networks: {}, raw: {} };
      },
    }) satisfies Partial<Agent> as Partial<Agent> as Agent;
  const poller = new Poller({
    agents: { agent: ({ agentId }) => agentOf(agentId) } as Partial<Agents> as Agents,
    sightings,
    awake,
    random: { fraction: () => (errors.length + asked.size) % 2 },
    intervalMs: 30_000,
    atOnce: AT_ONCE,
    onError: (error) => errors.push(error),
  });
  poller.watch(vms);
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      awake.beat();
      poller.tick();
      await clock.advance(1_000);
    }
  };
  return { poller, sightings, asked, busy, pass, vms, errors };
}

describe("asking many agents", () => {
  it("asks each about every 30 s, and few at once", async () => {
    const { asked, busy, pass } = polling(40);
    await pass(120);
    expect(asked.size).toBe(40);
    for (const times of asked.values()) {
      expect(times).toBeGreaterThanOrEqual(3);
      expect(times).toBeLessThanOrEqual(5);
    }
    expect(busy.most).toBeLessThanOrEqual(AT_ONCE);
  });

  it("those that are silent do not keep the others waiting", async () => {
    const dead = (index: number) => index < 30;
    const { sightings, busy, pass } = polling(60, dead);
    await pass(300);
    for (let index = 30; index < 60; index += 1) {
      const { answered, failed } = sightings.of(`agent-${index}`) ?? {};
      expect(failed).toBeUndefined();
      expect(answered?.awake).toBeGreaterThan(300_000 - 45_000);
    }
    for (let index = 0; index < 30; index += 1)
      expect(sightings.of(`agent-${index}`)?.failed?.times).toBeGreaterThanOrEqual(2);
    // Each second so many begin that may turn out to be silent, and take 10 s.
    expect(busy.most).toBeLessThanOrEqual(AT_ONCE * 11);
  });

  it("asks the next when one has answered, so that a large fleet is asked every 30 s, too", async () => {
    const { sightings, busy, pass } = polling(1_500);
    await pass(100);
    for (let index = 0; index < 1_500; index += 1)
      expect(sightings.of(`agent-${index}`)?.answered?.awake).toBeGreaterThan(100_000 - 36_000);
    expect(busy.most).toBeLessThanOrEqual(AT_ONCE);
  });

  it("a fifth of a fleet that goes silent at once is noticed within 90 s, and delays no other agent", async () => {
    let cut = false;
    const { sightings, pass } = polling(1_000, (index) => cut && index % 5 === 0);
    await pass(60);
    cut = true;
    await pass(90);
    for (let index = 0; index < 1_000; index += 1) {
      const { answered, failed } = sightings.of(`agent-${index}`) ?? {};
      if (index % 5 === 0) expect(failed?.times).toBeGreaterThanOrEqual(2);
      else expect(answered?.awake).toBeGreaterThan(150_000 - 40_000);
    }
  });

  it("blames no agent when this machine has no more sockets, and says so once a second at most", async () => {
    const shortage = Object.assign(new Error("too many open files"), { code: "EMFILE" });
    const { sightings, errors, pass } = polling(50, () => true, shortage);
    await pass(60);
    for (let index = 0; index < 50; index += 1)
      expect(sightings.of(`agent-${index}`)?.failed).toBeUndefined();
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThanOrEqual(60);
  });

  it("forgets agents that are no longer to be watched, and asks none once it is stopped", async () => {
    const { poller, sightings, asked, pass, vms } = polling(3);
    await pass(10);
    poller.watch(vms.slice(0, 1));
    expect(sightings.of("agent-1")).toBeUndefined();
    sightings.heartbeat("agent-1", {
      jobState: "running",
      processes: [],
      mounted: undefined,
      readOnly: false,
      vitals: { disk: {} },
    });
    expect(sightings.of("agent-1")).toBeUndefined();
    await poller.stop();
    const before = [...asked.values()];
    await pass(60);
    expect([...asked.values()]).toEqual(before);
  });
});
