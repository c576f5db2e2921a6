import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { AgentRefused, WrongAgent } from "@slipway/engine/agents/agent";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openAgents } from "./mbus-agents.ts";

let dir: string;
beforeEach(async () => {
  const directory = await temporaryDirectory();
  dir = directory.path;
  return directory.remove;
});

const authority = (name: string) =>
  openAuthority({ dir: join(dir, name), clock: systemClock, random: systemRandom });

/** Something that answers like an agent, with a certificate for this address. */
async function agentFor(address: string, password: string): Promise<{ port: number; ca: string }> {
  const issued = await (await authority("theirs")).issue({
    commonName: address,
    sans: { dns: [], ips: [address] },
    usage: "server",
    days: 1,
  });
  const expected = `Basic ${Buffer.from(`mbus:${password}`).toString("base64")}`;
  const server = createServer({ key: issued.privateKey, cert: issued.certificate }, (request, response) => {
    if (request.headers.authorization !== expected) return void response.writeHead(401).end();
    response.end(JSON.stringify({ value: "pong" }));
  });
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await expect.poll(() => server.listening).toBe(true);
  return { port: (server.address() as AddressInfo).port, ca: issued.ca };
}

async function ping(port: number, ca: string, password: string): Promise<void> {
  const agents = await openAgents({
    bus: { kind: "manifest", url: new URL(`https://mbus:${password}@127.0.0.1:${port}`), ca },
    mbus: {},
    keysDir: join(dir, "ours"),
    directorUuid: "d",
    clock: systemClock,
    random: systemRandom,
    warn: () => undefined,
  });
  onTestFinished(() => agents.close());
  await agents.agent({ agentId: "a" as AgentId, agentUrl: "" }).ping({ timeoutMs: 60_000 });
}

describe("an agent with certificates of the manifest", () => {
  it("is believed when its certificate is of the given authority and for its address", async () => {
    const { port, ca } = await agentFor("127.0.0.1", "p@ss word/1");
    await expect(ping(port, ca, encodeURIComponent("p@ss word/1"))).resolves.toBeUndefined();
  });

  it("is another one when its certificate is for another address, or of another authority", async () => {
    const elsewhere = await agentFor("127.0.0.2", "pw");
    await expect(ping(elsewhere.port, elsewhere.ca, "pw")).rejects.toThrow(WrongAgent);
    const here = await agentFor("127.0.0.1", "pw");
    await expect(ping(here.port, (await authority("other")).ca, "pw")).rejects.toThrow(WrongAgent);
  });

  it("refuses another password, and the error does not tell it", async () => {
    const { port, ca } = await agentFor("127.0.0.1", "right");
    const asked = ping(port, ca, "hunter2");
    await expect(asked).rejects.toThrow(AgentRefused);
    await expect(asked).rejects.not.toThrow(/hunter2/);
  });
});
