import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentClient } from "@slipway/engine/agents/agent-client";
import { agentSecret } from "@slipway/engine/agents/credentials";
import { SERVER_NAME } from "@slipway/engine/agents/nats/names";
import { natsUsers } from "@slipway/engine/agents/nats/users";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { freshDatabase } from "@slipway/testkit/database";
import { freePort } from "@slipway/testkit/free-port";
import { natsServerAvailable, TestNatsServer } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { NatsIncomplete } from "./errors.ts";
import { type NatsOptions, openNats } from "./open.ts";

const here = needs("nats-server", natsServerAvailable(), "nats-server is not installed");
const ID = "4b0f6a52-7a0c-4a55-9b0e-0c1fd2a7b6aa" as AgentId;
const tools = { clock: systemClock, random: systemRandom };

async function directory(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}

async function open(config: NatsOptions["config"]) {
  const stateDir = await directory();
  const base = await freshDatabase();
  onTestFinished(() => base.close());
  const closes: (() => Promise<void> | void)[] = [];
  onTestFinished(async () => {
    for (const close of closes.reverse()) await close();
  });
  const authority = await openAuthority({ dir: join(stateDir, "pki"), ...tools });
  return await openNats({
    ...{ config, stateDir, authority, db: base.db, ...tools },
    secret: agentSecret("5e".repeat(32)),
    log: () => undefined,
    onError: (error) => {
      throw error;
    },
    atClose: (close) => closes.push(close),
  });
}

describe.runIf(here)("a NATS server that runs already", () => {
  it("is used with its CA, and with certificates of the authority that it trusts", async () => {
    const theirs = await directory();
    const serverCa = await openAuthority({ dir: join(theirs, "server"), ...tools });
    const clientCa = await openAuthority({ dir: join(theirs, "client"), ...tools });
    const server = await TestNatsServer.start({
      server: await serverCa.issue({
        subject: "bosh",
        commonName: SERVER_NAME,
        sans: { dns: [], ips: ["127.0.0.1"] },
        usage: "server",
        days: 1,
      }),
      clientCa: clientCa.ca,
      users: Object.fromEntries(
        natsUsers([{ agentId: ID, lasting: false }]).map((one) => [
          one.user.replace(/^.*CN=/, ""),
          one.permissions,
        ]),
      ),
    });
    // Key and certificate stand in one file, which serves for both.
    const pair = join(theirs, "client", "authority.pem");
    const ca = join(theirs, "ca.pem");
    await writeFile(ca, serverCa.ca);
    const { transportProvider } = await open({
      urls: [server.url],
      ca,
      client_ca: { certificate: await readFile(pair, "utf8"), private_key: pair },
      blobs: { port: await freePort() },
    });
    const { envBosh } = await transportProvider.introduce({ agentId: ID, ips: [] });
    const { mbus, blobstores } = envBosh as unknown as {
      mbus: { urls: string[]; cert: Record<"ca" | "certificate" | "private_key", string> };
      blobstores: { provider: string; options: { user: string } }[];
    };
    expect(mbus.urls).toEqual([server.url]);
    expect(blobstores[0]).toMatchObject({ provider: "dav", options: { user: ID } });
    const { certificate, private_key: privateKey } = mbus.cert;
    const agent = await dial(
      readNatsUrl(server.url),
      { ca: mbus.cert.ca, certificate, privateKey },
      ID,
      systemClock,
    );
    onTestFinished(() => agent.close());
    agent.subscribe(`agent.${ID}`, {
      callback: (_, message) => {
        const { reply_to } = JSON.parse(message.string()) as { reply_to: string };
        agent.publish(reply_to, '{"value":"pong"}');
      },
    });
    await agent.flush();
    const transport = transportProvider.transportTo({ agentId: ID, agentUrl: server.url });
    await agentClient(transport, { clock: systemClock, warn: () => undefined }).ping();
  });

  it("or one to be started must be named, and by an address that agents reach", async () => {
    const wrong: NatsOptions["config"][] = [
      {},
      { server: { host: "0.0.0.0" } },
      { urls: ["nats://10.0.0.6:4222"], blobs: { host: "0.0.0.0" } },
      { urls: ["nats://10.0.0.6:4222"], ca: "/none" },
    ];
    for (const config of wrong)
      await expect(open({ ...config, blobs: { port: await freePort(), ...config.blobs } })).rejects.toSatisfy(
        (error) => NatsIncomplete.is(error),
      );
  });
});
