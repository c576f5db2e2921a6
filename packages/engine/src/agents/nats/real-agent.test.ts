import { X509Certificate } from "node:crypto";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { AgentMachine } from "@slipway/testkit/agent-machine";
import { type NatsUsers, natsServerAvailable, TestNatsServer } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Authority, DAY_MS } from "../../pki/authority.ts";
import { agentEnvOf } from "../../steps/env.ts";
import { makeAgents } from "../agents.ts";
import { agentSecret } from "../credentials.ts";
import { NETWORKS, testAuthority } from "../testing/real-agent.ts";
import { NatsBus } from "./bus.ts";
import { SERVER_NAME } from "./names.ts";
import { directorCredentials, natsTransportProvider } from "./nats-transport-provider.ts";
import { natsUsers } from "./users.ts";

sampleTests(1 / 3);

const here = needs("nats-server", natsServerAvailable(), "nats-server is not installed");
const bundle = agentBundle();

const usersWith = (agentId: AgentId, lasting: boolean): NatsUsers =>
  Object.fromEntries(
    natsUsers([{ agentId, lasting }]).map(({ user, permissions }) => [
      user.replace(/^.*CN=/, ""),
      permissions,
    ]),
  );

interface Reply {
  readonly mbus: {
    readonly urls: readonly string[];
    readonly cert: Readonly<Record<"ca" | "certificate" | "private_key", string>>;
  };
}

/** A server of the authority's, the Director's side of it, and a machine that knows what `introduce` says. */
async function introduced(lastingFromBirth = false) {
  const authority: Authority = await testAuthority();
  const agentId = systemRandom.uuid() as AgentId;
  const issued = await authority.issue({
    subject: "bosh",
    commonName: SERVER_NAME,
    sans: { dns: [], ips: ["127.0.0.1"] },
    usage: "server",
    days: 1,
  });
  const server = await TestNatsServer.start({
    server: issued,
    clientCa: authority.ca,
    users: usersWith("nobody" as AgentId, true),
  });
  const trust = () => ({ authority, serverCa: authority.ca });
  const credentials = directorCredentials({ trust, clock: systemClock });
  const tools = { clock: systemClock, random: systemRandom, warn: () => undefined };
  const bus = new NatsBus({ urls: [server.url], credentials, ...tools });
  onTestFinished(() => bus.close());
  const nats = natsTransportProvider({
    bus,
    urls: [server.url],
    trust,
    lastingFromBirth,
    authorize: () => server.reload(usersWith(agentId, false)),
  });
  const agents = makeAgents({
    ...{ authority, secret: agentSecret("5e".repeat(32)), port: 1, directorUuid: "d-1" },
    ...tools,
    nats,
    transport: "nats",
  });
  onTestFinished(() => agents.close());
  const machine = await AgentMachine.open({ bundle: bundle() });
  onTestFinished(() => machine.close());
  const { envBosh, certificateUntil } = await agents.introduce({ agentId, ips: [] });
  await machine.offer(
    machine.settings({
      agent_id: agentId,
      mbus: "",
      networks: NETWORKS,
      env: { bosh: { ...agentEnvOf(), ...envBosh } },
    }),
  );
  const agentUrl = agents.urlFor({ private: { type: "dynamic" } }) ?? "";
  const agent = agents.agent({ agentId, agentUrl });
  const told = envBosh as unknown as Reply;
  return { server, agents, agent, agentId, agentUrl, machine, told, certificateUntil };
}

describe.runIf(here)("a real agent over NATS", () => {
  it("gets the server's URL and a certificate that ends soon, and needs no address", async () => {
    const { told, server, agentUrl, agentId, certificateUntil } = await introduced();
    expect(told.mbus.urls).toEqual([server.url]);
    expect(agentUrl).toBe(server.url);
    const shown = new X509Certificate(told.mbus.cert.certificate);
    expect(shown.subject.split("\n")).toEqual([
      "C=USA",
      "O=Cloud Foundry",
      `CN=${agentId}.bootstrap.agent.bosh-internal`,
    ]);
    expect(certificateUntil - systemClock.now()).toBeLessThanOrEqual(DAY_MS);
  });

  it("gets a lasting certificate if the first one is not to be replaced", async () => {
    const { agent, agentId, machine, told, certificateUntil } = await introduced(true);
    expect(new X509Certificate(told.mbus.cert.certificate).subject).toContain(
      `CN=${agentId}.agent.bosh-internal`,
    );
    expect(certificateUntil - systemClock.now()).toBeGreaterThan(300 * DAY_MS);
    machine.start();
    await agent.waitUntilReady({ withinMs: 60_000 });
  });

  it("is waited for while it starts, answers, and is followed through tasks", async () => {
    const { agent, agentId, machine } = await introduced();
    const ready = agent.waitUntilReady({ withinMs: 60_000 });
    machine.start();
    await ready;
    expect((await agent.getState(true)).raw.agent_id).toBe(agentId);
    await agent.apply({ deployment: "shop", job: { name: "db" }, index: 0, id: "i-1", networks: {} });
    expect((await agent.getState(false)).raw.deployment).toBe("shop");
  });

  it("takes up its lasting certificate, after which the first one is good for nothing", async () => {
    const { agent, agents, agentId, agentUrl, machine, server } = await introduced();
    const process = machine.start();
    await agent.waitUntilReady({ withinMs: 60_000 });
    const { settings, certificateUntil } = await agents.renewal({ agentId, agentUrl, ips: [] });
    expect(certificateUntil - systemClock.now()).toBeGreaterThan(300 * DAY_MS);
    await agent.updateSettings({ trusted_certs: "", disk_associations: [], ...settings });
    await agent.waitUntilReady({ withinMs: 60_000 });
    await server.reload(usersWith(agentId, true));
    await agent.waitUntilReady({ withinMs: 60_000 });
    expect(process.over).toBe(false);
    // Also when it starts again.
    await process.kill();
    machine.start();
    await agent.waitUntilReady({ withinMs: 60_000 });
  });

  it("shuts out an agent that keeps its first certificate", async () => {
    const { agent, agentId, machine, server } = await introduced();
    machine.start();
    await agent.waitUntilReady({ withinMs: 60_000 });
    await server.reload(usersWith(agentId, true));
    await expect
      .poll(() => agent.ping({ timeoutMs: 500 }).then(String, String))
      .toContain("no agent of this id");
  });

  it("answers again after the server was restarted", async () => {
    const { agent, machine, server } = await introduced();
    machine.start();
    await agent.waitUntilReady({ withinMs: 60_000 });
    await server.kill();
    await server.run();
    await expect(agent.waitUntilReady({ withinMs: 60_000 })).resolves.toBeUndefined();
  });
});
