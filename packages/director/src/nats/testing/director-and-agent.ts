import { join } from "node:path";
import { makeAgents } from "@slipway/engine/agents/agents";
import { agentSecret } from "@slipway/engine/agents/credentials";
import { directorCredentials } from "@slipway/engine/agents/nats/nats-transport-provider";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { configuredClouds } from "@slipway/engine/clouds/testing/configured";
import { type Authority, openAuthority } from "@slipway/engine/pki/authority";
import { agentEnvOf } from "@slipway/engine/steps/env";
import { systemClock } from "@slipway/kernel/clock";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { AgentMachine } from "@slipway/testkit/agent-machine";
import { freshDatabase } from "@slipway/testkit/database";
import { freePort } from "@slipway/testkit/free-port";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { expect, onTestFinished } from "vitest";
import { seedShop } from "../../api/testing/seed.ts";
import { assemble } from "../../assemble.ts";
import { documentsHere } from "../../documents/documents.ts";
import { natsAuthorities } from "../../store/nats-authorities.ts";
import type { Db } from "../../store/schema.ts";
import { type NatsOptions, openNats } from "../open.ts";

export const ID = "4b0f6a52-7a0c-4a55-9b0e-0c1fd2a7b6aa" as AgentId;
const NETWORKS = { private: { type: "manual", ip: "127.0.0.1", netmask: "255.0.0.0", preconfigured: true } };
export const tools = { clock: systemClock, random: systemRandom };
const secret = agentSecret("5e".repeat(32));

export async function directory(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}

/** A Director's part of NATS, with the tasks of a Director. */
async function running(db: Db, stateDir: string, config: NatsOptions["config"]) {
  const closes: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const one of closes.splice(0).reverse()) await one();
  };
  onTestFinished(close);
  const authority = await openAuthority({ dir: join(stateDir, "pki"), ...tools });
  const onError = (error: unknown) => {
    throw error;
  };
  const { transportProvider, authorities } = await openNats({
    ...{ config, stateDir, authority, secret, db, ...tools, onError },
    log: () => undefined,
    atClose: (one) => closes.push(one),
  });
  const agents = makeAgents({
    ...{ authority, secret, port: 1, directorUuid: "d-1", ...tools, warn: () => undefined },
    ...{ nats: transportProvider, transport: "nats" },
  });
  const runner = assemble({
    ...{
      db,
      agents,
      nats: authorities,
      documents: documentsHere,
      ...tools,
      onError,
      alone: true,
      ownIps: [],
    },
    clouds: configuredClouds(),
    settings: {
      ...{ directorName: "d", directorUuid: "d-1", agentEnvBosh: {}, agentWaitMs: 60_000 },
      ...{ maxVmCreateTries: 1, keepUnreachableVms: false, stopTimeoutMs: 1_000 },
    },
    options: { enableCpiResizeDisk: false, enableCpiUpdateDisk: false },
    uploadsDir: stateDir,
    blobs: directoryBlobs({ dir: stateDir, random: systemRandom }),
    keyedHash: () => "",
    renderer: {
      open: () => ({
        identity: () => Promise.resolve(undefined),
        render: () => Promise.reject(new Error("nothing is rendered here")),
        close: () => Promise.resolve(),
      }),
      close: () => Promise.resolve(),
    },
  });
  runner.start();
  closes.push(() => runner.stop());
  const task = async (params: JsonObject = {}): Promise<string | null> => {
    const type = "renew_certificates" as const;
    const id = await runner.enqueue({ type, description: "renew", user: "admin", params });
    const row = () =>
      db.selectFrom("tasks").select(["state", "result"]).where("id", "=", id).executeTakeFirst();
    await expect.poll(async () => (await row())?.state, { timeout: 170_000 }).toBe("done");
    return (await row())?.result ?? null;
  };
  return { agents, authority, task, close };
}

/** Makes a VM with a real agent that knows the server and is not started yet. Without `given`, the Director starts the server. */
export async function withAgent(bundle: string, given?: NatsOptions["config"]) {
  const base = await freshDatabase();
  onTestFinished(() => base.close());
  const { db } = base;
  await seedShop(db);
  const stateDir = await directory();
  const blobs = { port: await freePort() };
  const own = { server: { port: await freePort() }, blobs };
  const start = (config: NatsOptions["config"] = given ?? own) => running(db, stateDir, { blobs, ...config });
  const director = await start();
  const { envBosh, certificateUntil, natsTrust } = await director.agents.introduce({ agentId: ID, ips: [] });
  const agentUrl = given?.urls?.[0] ?? `nats://127.0.0.1:${own.server.port}`;
  await db
    .updateTable("vms")
    .set({
      ...{ agent_id: ID, agent_url: agentUrl, nats_trust: natsTrust ?? null },
      certificate_until: new Date(certificateUntil),
    })
    .execute();
  await db.deleteFrom("persistent_disks").execute();
  const machine = await AgentMachine.open({ bundle });
  onTestFinished(() => machine.close());
  const env = { bosh: { ...agentEnvOf(), ...envBosh } };
  await machine.offer(machine.settings({ agent_id: ID, mbus: "", networks: NETWORKS, env }));
  const answers = ({ agents }: Pick<typeof director, "agents">) =>
    agents.agent({ agentId: ID, agentUrl }).waitUntilReady({ withinMs: 120_000 });
  /** Reports whether the server accepts a client certificate of `signer`, for a client that trusts `ca`. */
  const letsIn = async (signer: Authority, ca: string): Promise<boolean> => {
    const credentials = directorCredentials({
      trust: () => ({ authority: signer, serverCa: ca }),
      clock: systemClock,
    });
    try {
      const connection = await dial(readNatsUrl(agentUrl), await credentials(), "somebody", systemClock);
      await connection.close();
      return true;
    } catch {
      return false;
    }
  };
  const newest = async (): Promise<Authority> => {
    const { current, next } = await natsAuthorities(db);
    return await openAuthority({ dir: join(stateDir, "pki", `nats-${next ?? current}`), ...tools });
  };
  return { director, start, machine, answers, letsIn, newest };
}
