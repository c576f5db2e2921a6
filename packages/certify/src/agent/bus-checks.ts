import { CannotTell, expectEqual, expectTrue } from "../expect.ts";
import { type Check, given } from "./check.ts";

/** Upstream's: 30 seconds, give or take two. */
const BEAT_MS = 30_000;
const BEAT_SLACK_MS = 2_000;

/** Checks that need a NATS bus. */
export const BUS_CHECKS: readonly Check[] = [
  {
    id: "AGENT-BUS-001",
    number: 1,
    name: "ping is answered over NATS within a second, where it asks for it",
    needs: ["nats"],
    run: async ({ nats }) => {
      const bus = given(nats);
      const begun = bus.clock.monotonic();
      expectEqual(await bus.send("ping"), { value: "pong" }, "ping");
      const ms = bus.clock.monotonic() - begun;
      expectTrue(ms < 1000, `it took ${Math.round(ms)} ms`);
    },
  },
  {
    id: "AGENT-BUS-002",
    number: 4,
    part: "N",
    name: "a body that is not JSON gets no answer at all, and the next ping works",
    needs: ["nats"],
    run: async ({ nats }) => {
      const bus = given(nats);
      const before = bus.answers;
      bus.publish("{");
      expectEqual(await bus.send("ping"), { value: "pong" }, "ping");
      expectEqual(bus.answers - before, 1, "number of answers");
    },
  },
  {
    id: "AGENT-BUS-004",
    number: 26,
    name: "drain shutdown tells the Health Monitor null",
    needs: ["nats", "health-monitor"],
    run: async ({ nats }) => {
      const bus = given(nats);
      const begun = bus.clock.monotonic();
      expectEqual(await bus.value("drain", ["shutdown"]), 0, "drain");
      expectEqual((await bus.monitorMessage("shutdown", begun, 5_000)).text, "null", "notice");
    },
  },
  {
    id: "AGENT-BUS-003",
    number: 30,
    part: "N",
    name: "a reply of more than 1 MiB is replaced by a refusal over NATS",
    needs: ["nats"],
    run: async ({ nats, network }) => {
      const bus = given(nats);
      // As much as fits into the request; the state has more around it than the request had.
      const filler = "x".repeat(Math.min(bus.limit, 1 << 20) - 300);
      await bus.value("apply", [{ networks: { [network]: { filler } } }]);
      try {
        expectEqual(
          await bus.send("get_state"),
          { exception: { message: "Response exceeded maximum allowed length" } },
          "get_state",
        );
      } finally {
        await bus.value("apply", [{ networks: {} }]);
      }
    },
  },
  {
    id: "AGENT-BUS-005",
    number: 50,
    name: "the first heartbeat comes at once",
    needs: ["nats", "health-monitor"],
    run: async ({ nats }) => {
      const bus = given(nats);
      if (bus.arrival?.waited !== true)
        throw new CannotTell("the agent was there first; start it when this program waits for it");
      const { at, text } = await bus.monitorMessage("heartbeat", 0, 5_000);
      const late = at - bus.arrival.at;
      expectTrue(late < 2_000, `it came ${Math.round(late)} ms after the first answer`);
      const beat = JSON.parse(text) as { job_state?: unknown; vitals?: { disk?: object } };
      expectTrue(typeof beat.job_state === "string", "job_state must be a text");
      expectTrue(typeof beat.vitals === "object", "vitals must be there");
      expectTrue(!("persistent" in (beat.vitals?.disk ?? {})), "there is no persistent disk yet");
    },
  },
  {
    id: "AGENT-BUS-006",
    number: 50,
    part: "b",
    name: "the next heartbeat comes 30 seconds later",
    needs: ["nats", "health-monitor"],
    run: async ({ nats, heartbeats }) => {
      if (!heartbeats) throw new CannotTell("takes half a minute; needs --heartbeats");
      const bus = given(nats);
      const first = await bus.monitorMessage("heartbeat", 0, BEAT_MS + BEAT_SLACK_MS);
      const next = await bus.monitorMessage("heartbeat", first.at + 1, BEAT_MS + BEAT_SLACK_MS);
      const ms = next.at - first.at;
      expectTrue(Math.abs(ms - BEAT_MS) <= BEAT_SLACK_MS, `it came after ${Math.round(ms)} ms`);
    },
  },
];
