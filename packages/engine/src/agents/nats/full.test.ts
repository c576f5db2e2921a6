import { natsServerAvailable, TestNatsServer } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { directorOn, fakeAgentOn, type Says } from "../testing/bus.ts";

const here = needs("nats-server", natsServerAvailable(), "nats-server is not installed");

/** Its reason comes before the handshake, where it is read as a broken one, or not at all. Its log has it. */
const TURNED_AWAY = "(disconnected before secure TLS|wrong version number|ECONNRESET)";

const pong: Says = (_, answer) => answer({ value: "pong" });

sampleTests(1 / 3);

describe.runIf(here)("a NATS server that is full", () => {
  it("names a NATS server that refuses connections and why, and uses it once there is room", async () => {
    const server = await TestNatsServer.start({ more: "max_connections: 1" });
    const other = await fakeAgentOn(server, pong);
    const { agent, bus } = directorOn(server);
    await expect
      .poll(() => agent.ping({ timeoutMs: 3_000 }).catch(String))
      .toMatch(new RegExp(`no connection to NATS at .*: .*${TURNED_AWAY}`));
    await other.connection.close();
    await expect
      .poll(() => agent.ping({ timeoutMs: 2_000 }).catch(String), { timeout: 60_000 })
      .toMatch(/no agent of this id is connected/);
    expect(bus.connected).toBe(true);
  });

  it("stays connected to a NATS server without room for the agent, and says that the agent is not connected", async () => {
    const server = await TestNatsServer.start({ more: "max_connections: 1" });
    const { agent, bus } = directorOn(server);
    await expect
      .poll(() => agent.ping({ timeoutMs: 1_500 }).catch(String))
      .toMatch(/no agent of this id is connected/);
    await expect(fakeAgentOn(server, pong)).rejects.toThrow(new RegExp(TURNED_AWAY));
    expect(bus.connected).toBe(true);
  });
});
