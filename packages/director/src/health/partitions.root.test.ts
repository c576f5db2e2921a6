import { agentClient } from "@slipway/engine/agents/agent-client";
import { NatsBus } from "@slipway/engine/agents/nats/bus";
import { agentName, DIRECTOR_NAME, SERVER_NAME } from "@slipway/engine/agents/nats/names";
import { natsTransport } from "@slipway/engine/agents/nats/nats-transport";
import { natsUsers } from "@slipway/engine/agents/nats/users";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { bundled } from "@slipway/testkit/bundle";
import { natsServerAvailable, TestNatsServer } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { plays } from "@slipway/testkit/stories";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { seedBank } from "./testing/bank.ts";
import { makeSwitch, networksTrouble } from "./testing/namespaces.ts";
import { AGENT_ID, natsWorld } from "./testing/nats-world.ts";

const nats = needs("nats-server", natsServerAvailable(), "nats-server is not installed");
const trouble = await networksTrouble();
const here = needs("root-netns", trouble === undefined, trouble) && nats;

const agents = bundled("./testing/agents-in-namespace.ts", import.meta.url);

const FLEET = 25;
/** Groups of agents: one, with the second a fifth, and all others. */
const GROUPS = [
  ["bank-0"],
  ["bank-1", "bank-2", "bank-3", "bank-4"],
  [AGENT_ID, ...Array.from({ length: FLEET - 5 }, (_, at) => `bank-${at + 5}`)],
];

/** A NATS server, a Director beside it, and agents in three networks. */
async function opened() {
  const wires = await makeSwitch();
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const authority = await openAuthority({ dir: path, clock: systemClock, random: systemRandom });
  const issue = async (commonName: string, usage: "client" | "server", ips: readonly string[] = []) => {
    const request = { subject: "bosh", commonName, sans: { dns: [], ips }, usage, days: 1 } as const;
    const { certificate, privateKey } = await authority.issue(request);
    return { ca: authority.ca, certificate, privateKey };
  };
  const allowed = GROUPS.flat().map((id) => ({ agentId: id as AgentId, lasting: true }));
  const users = natsUsers(allowed).map(
    ({ user, permissions }) => [user.replace(/^.*CN=/, ""), permissions] as const,
  );
  const server = await TestNatsServer.start({
    host: wires.host,
    users: Object.fromEntries(users),
    server: await issue(SERVER_NAME, "server", [wires.host]),
    clientCa: authority.ca,
  });
  const credentials = await issue(DIRECTOR_NAME, "client");
  const tools = { clock: systemClock, warn: () => undefined };
  const bus = new NatsBus({
    ...{ urls: [server.url], credentials: () => Promise.resolve(credentials), random: systemRandom },
    ...tools,
  });
  onTestFinished(() => bus.close());
  const networks = await Promise.all(
    GROUPS.map(async (ids) => {
      const network = await wires.namespace(agents());
      const connect = await Promise.all(
        ids.map(async (id) => ({ id, credentials: await issue(agentName(id as AgentId), "client") })),
      );
      await network.tell({ connect, url: server.url });
      return { ...network, count: ids.length, whole: true };
    }),
  );
  const made = await natsWorld(
    bus,
    (agentId) => agentClient(natsTransport(agentId as AgentId, { bus }), tools),
    (db) => seedBank(db, FLEET),
  );
  await expect.poll(() => bus.connected, { timeout: 60_000 }).toBe(true);

  /** Makes all agents send heartbeats, and waits for those that are not cut off. */
  const beats = async () => {
    const before = made.world.delivered;
    for (const { tell } of networks) await tell({ beat: true });
    const arrives = networks.reduce((sum, { count, whole }) => sum + (whole ? count : 0), 0);
    await expect
      .poll(() => made.world.delivered, { timeout: 120_000, interval: 5 })
      .toBeGreaterThanOrEqual(before + arrives);
  };
  const pass = (seconds: number) => made.pass(seconds, (second) => (second % 30 === 0 ? beats() : undefined));
  const cut = async (...which: readonly number[]) => {
    for (const [at, network] of networks.entries())
      if (which.includes(at) === network.whole) {
        network.whole = !network.whole;
        await (network.whole ? network.mend() : network.cut());
      }
  };
  const statuses = () => {
    const counts = new Map<string, number>();
    for (const { watched, verdict } of made.monitor.snapshot()?.instances ?? [])
      if (watched.state === "started") counts.set(verdict.status, (counts.get(verdict.status) ?? 0) + 1);
    return Object.fromEntries(counts);
  };
  return { ...made, pass, cut, statuses };
}

describe.runIf(here)("a NATS server that agents are cut off from", () => {
  it.runIf(plays("parts", "one cut off"))("one: it is noticed within 90 s and given a new VM", async () => {
    const { pass, cut, statuses, queued } = await opened();
    await pass(60);
    expect(statuses()).toEqual({ healthy: FLEET + 1 });
    await cut(0);
    await pass(90);
    expect(statuses()).toEqual({ healthy: FLEET, unresponsive: 1 });
    expect(queued.map(({ type, deployment }) => ({ type, deployment }))).toEqual([
      { type: "cck_scan_and_fix", deployment: "bank" },
    ]);
  });

  it.runIf(plays("parts", "a fifth cut off"))(
    "a fifth of a deployment: nobody is replaced, and all are well when the network is",
    async () => {
      const { pass, cut, statuses, queued, alerts } = await opened();
      await pass(60);
      await cut(0, 1);
      await pass(180);
      expect({ ...statuses(), queued }).toEqual({ healthy: FLEET - 4, unresponsive: 5, queued: [] });
      expect(alerts.map(({ source, severity }) => ({ source, severity }))).toContainEqual({
        source: "bank",
        severity: 1,
      });
      await cut();
      await pass(60);
      expect({ ...statuses(), queued }).toEqual({ healthy: FLEET + 1, queued: [] });
    },
  );

  it.runIf(plays("parts", "all cut off"))(
    "all: the Director takes the fault for its own, and replaces nobody",
    async () => {
      const { pass, cut, statuses, queued, monitor } = await opened();
      await pass(60);
      await cut(0, 1, 2);
      await pass(180);
      expect({ ...statuses(), queued }).toEqual({ unresponsive: FLEET + 1, queued: [] });
      expect(monitor.snapshot()?.held).toMatch(/26 of all 26 agents are silent/);
      await cut();
      await pass(60);
      expect({ ...statuses(), queued }).toEqual({ healthy: FLEET + 1, queued: [] });
    },
  );
});
