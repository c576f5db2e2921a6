import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { post } from "@slipway/testkit/https-client";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { AgentRefused, AgentSilent, WrongAgent } from "./agent.ts";
import { agentClient } from "./agent-client.ts";
import { makeAgents } from "./agents.ts";
import { AGENT_USER, agentSecret } from "./credentials.ts";
import { isDistrust } from "./distrust.ts";
import { httpsTransport } from "./https-transport.ts";
import { introduced, testAuthority } from "./testing/real-agent.ts";

sampleTests(1 / 4);

const bundle = agentBundle();
const SOON = { timeoutMs: 3_000 };
/** The Director's time passes only between its attempts, however long they take. */
const patient = () => fakeClock({ start: systemClock.now(), hurry: true });

describe("a real agent over HTTPS", () => {
  it("is waited for while it starts, and answers what it is asked", async () => {
    const { agent, agentId, machine } = await introduced(bundle());
    const ready = agent.waitUntilReady({ withinMs: 30_000 });
    machine.start();
    await ready;
    await agent.ping();
    const state = await agent.getState(true);
    expect(state.jobState).toBe("running");
    expect(state.raw.agent_id).toBe(agentId);
    expect(state.raw.vitals).toBeTypeOf("object");
    expect(await agent.listDisk()).toEqual([]);
  });

  it("is followed through tasks to their end, also to a bad one", async () => {
    const { agent, start } = await introduced(bundle());
    await start();
    await agent.apply({ deployment: "shop", job: { name: "db" }, index: 0, id: "i-1", networks: {} });
    expect((await agent.getState(false)).raw.deployment).toBe("shop");
    await agent.drain("shutdown", {});
    await agent.stop();
    await agent.runScript("pre-start", { A: "b" });
    await agent.removePersistentDisk("vol-none");
    const refusal = await agent.mountDisk("vol-none").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AgentRefused);
    expect(String(refusal)).toMatch(/refused mount_disk: .*vol-none/);
  });

  it("wants a client certificate of the Director's authority, which an agent's own is not", async () => {
    const { agents, agentId, machine, agent, authority, start } = await introduced(bundle());
    await start();
    await agent.ping();
    const ping = JSON.stringify({ protocol: 3, method: "ping", arguments: [], reply_to: "x" });
    const auth = `${AGENT_USER}:${agentSecret("5e".repeat(32)).passwordFor(agentId)}`;
    const bare = { ca: authority.ca, auth };
    await expect(post(machine.port, ping, bare)).rejects.toThrow();
    const { envBosh } = await agents.introduce({ agentId: "agent-2" as AgentId, ips: ["127.0.0.1"] });
    const { certificate, private_key: key } = (envBosh as { mbus: { cert: Record<string, string> } }).mbus
      .cert;
    await expect(post(machine.port, ping, { ...bare, cert: certificate, key })).rejects.toThrow();
    const mine = await authority.issue({
      commonName: "d",
      sans: { dns: [], ips: [] },
      usage: "client",
      days: 1,
    });
    const answer = await post(machine.port, ping, { ...bare, cert: mine.certificate, key: mine.privateKey });
    expect(JSON.parse(answer.text)).toEqual({ value: "pong" });
  });

  it("distinguishes an agent from another at the same address", async () => {
    const { agents, agentId, agent, url, start } = await introduced(bundle(), { clock: patient() });
    await start();
    await agent.ping();
    const other = agents.agent({ agentId: "somebody-else" as AgentId, agentUrl: url });
    const error = await other.ping(SOON).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WrongAgent);
    expect(String(error)).toContain(
      `is not the agent somebody-else: its certificate is the one of ${agentId}`,
    );
    // The certificate is valid, and the address belongs to another agent: the Director's own certificate is fine.
    expect(isDistrust(error)).toBe(false);
    await expect(other.waitUntilReady({ withinMs: 600 })).rejects.toThrow(WrongAgent);
  });

  it("rejects an agent of another Director by its certificate", async () => {
    const { agentId, url, start } = await introduced(bundle());
    await start();
    const options = { secret: agentSecret("5e".repeat(32)), port: 1, directorUuid: "d-2", warn: () => {} };
    const foreign = makeAgents({
      ...options,
      authority: await testAuthority(),
      clock: patient(),
      random: systemRandom,
    });
    const error = await foreign
      .agent({ agentId, agentUrl: url })
      .ping(SOON)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WrongAgent);
    expect(String(error)).toContain("not of this Director's authority");
    expect(isDistrust(error)).toBe(true);
  });

  it("treats an agent that refuses the Director's certificate as alive", async () => {
    const { agentId, url, authority, start } = await introduced(bundle());
    await start();
    const { privateKey: key, certificate: cert } = await (await testAuthority()).issue({
      commonName: "director d-2",
      sans: { dns: [], ips: [] },
      usage: "client",
      days: 1,
    });
    const { hostname: host, port } = new URL(url);
    const peer = { agentId, host, port: Number(port), user: "u", password: "p" };
    const clock = patient();
    const transport = httpsTransport(peer, {
      clock,
      random: systemRandom,
      directorUuid: "d-2",
      identity: () => Promise.resolve({ privateKey: key, certificate: cert, ca: authority.ca }),
    });
    const error = await agentClient(transport, { clock, warn: () => {} })
      .ping(SOON)
      .catch((thrown: unknown) => thrown);
    transport.close();
    expect({ silent: error instanceof AgentSilent, distrust: isDistrust(error) }).toEqual({
      silent: true,
      distrust: true,
    });
  });

  it("says that the password is wrong, and not which", async () => {
    const { agentId, authority, url, start } = await introduced(bundle());
    await start();
    const secret = agentSecret("00".repeat(32));
    const agents = makeAgents({
      authority,
      secret,
      port: 1,
      clock: patient(),
      random: systemRandom,
      directorUuid: "d-1",
      warn: () => {},
    });
    const agent = agents.agent({ agentId, agentUrl: url });
    for (const ask of [() => agent.ping(SOON), () => agent.waitUntilReady({ withinMs: 20_000 })]) {
      const error = await ask().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AgentRefused);
      expect(String(error)).toContain("does not accept this Director's password");
      expect(String(error)).not.toContain(secret.passwordFor(agentId));
    }
  });

  it("gets a new certificate by update_settings and shows it, without having been away", async () => {
    const { agents, agentId, agent, machine, authority, start } = await introduced(bundle());
    const process = await start();
    const before = await servedFingerprint(machine.port, authority.ca);
    const { settings, certificateUntil } = await agents.renewal({
      agentId,
      agentUrl: "https://127.0.0.1:1",
      ips: ["127.0.0.1"],
    });
    expect(certificateUntil).toBeGreaterThan(systemClock.now());
    await agent.updateSettings(settings);
    await agent.ping();
    expect(await servedFingerprint(machine.port, authority.ca)).not.toBe(before);
    expect(process.over).toBe(false);
  });

  it("reports what is known of an agent that is gone", async () => {
    const { agent, machine, start } = await introduced(bundle(), { clock: patient() });
    const process = await start();
    await agent.ping();
    await process.kill();
    const error = await agent.ping({ timeoutMs: 1_500 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AgentSilent);
    expect(isDistrust(error)).toBe(false);
    expect(String(error)).toMatch(
      /the connection is refused: the VM is there, but no agent listens \(ECONNREFUSED\)/,
    );
    const waited = await agent.waitUntilReady({ withinMs: 1_000 }).catch((thrown: unknown) => thrown);
    expect(waited).toBeInstanceOf(AgentSilent);
    expect(String(waited)).toMatch(
      new RegExp(
        `at 127.0.0.1:${machine.port} was not ready within 1 s \\(\\d+ tries\\): the connection is refused`,
      ),
    );
  });

  it("reports in the agent's own words that it waits for a disk", async () => {
    const { agent, agentId, agents, machine } = await introduced(bundle(), { clock: patient() });
    const { envBosh } = await agents.introduce({ agentId, ips: ["127.0.0.1"] });
    const disks = { system: "", persistent: { "vol-9": { path: "/nowhere/vol-9" } } };
    await machine.offer(machine.settings({ agent_id: agentId, mbus: "", disks, env: { bosh: envBosh } }));
    // As an agent leaves it that has mounted the disk before.
    await writeFile(join(machine.paths.boshDir, "managed_disk_settings.json"), "vol-9");
    machine.start();
    // Until it is there, and says so.
    await expect.poll(() => agent.ping(SOON).catch(String)).toContain("waiting for the device");
    const error = await agent.waitUntilReady({ withinMs: 4_000 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AgentSilent);
    expect(String(error)).toMatch(
      /says that it is waiting for the device of persistent disk vol-9.*next: fix/,
    );
  });
});

/** Returns the fingerprint of the certificate that the agent presents. */
function servedFingerprint(port: number, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, ca });
    socket.once("secureConnect", () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once("error", reject);
  });
}
