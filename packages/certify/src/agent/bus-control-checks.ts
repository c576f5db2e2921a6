import { expectEqual, expectTrue } from "../expect.ts";
import { type Check, given } from "./check.ts";
import { pong } from "./restart-checks.ts";

/** Upstream's longest pause between two tries to connect is 10 s; what follows the connection takes a moment. */
const RETURN_MS = 13_000;

/** Checks that need a NATS server that may be stopped and replaced. */
export const BUS_CONTROL_CHECKS: readonly Check[] = [
  {
    id: "AGENT-BUS-007",
    number: 51,
    name: "an agent answers again when NATS comes back",
    needs: ["nats", "nats-control"],
    run: async ({ nats, control }) => {
      const [bus, act] = [given(nats), given(control)];
      await act("bus", "stop");
      await act("bus", "start");
      await bus.dial();
      expectTrue(await pong(bus, RETURN_MS), `no pong within ${RETURN_MS / 1000} s of its return`);
    },
  },
  {
    id: "AGENT-BUS-008",
    number: 51,
    part: "b",
    name: "an agent that finds no NATS at its start connects when there is one",
    needs: ["nats", "nats-control", "restart"],
    run: async ({ nats, control }) => {
      const [bus, act] = [given(nats), given(control)];
      await act("bus", "stop");
      await act("restart", "nats");
      // Long enough for its first try to have failed.
      await bus.clock.sleep(2_000);
      await act("bus", "start");
      await bus.dial();
      expectTrue(await pong(bus, RETURN_MS), `no pong within ${RETURN_MS / 1000} s of its arrival`);
    },
  },
  {
    id: "AGENT-BUS-009",
    number: 52,
    name: "a NATS server with a valid certificate of another name is refused",
    needs: ["nats", "nats-control"],
    run: async ({ nats, control }) => {
      const [bus, act] = [given(nats), given(control)];
      await act("bus", "stop");
      try {
        await act("bus", "impostor");
        await bus.dial();
        const before = bus.answers;
        expectTrue(!(await pong(bus, RETURN_MS)), "it answered");
        expectEqual(bus.answers - before, 0, "number of answers");
      } finally {
        await act("bus", "stop");
        await act("bus", "start");
        await bus.dial();
      }
      // It was there all the time, and only the name kept it away.
      expectTrue(await pong(bus, RETURN_MS), "it does not answer over its own server any more");
    },
  },
];
