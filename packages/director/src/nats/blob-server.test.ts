import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { AgentRefused } from "@slipway/engine/agents/agent";
import { agentSecret } from "@slipway/engine/agents/credentials";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { basicAuth, HttpClient } from "@slipway/kernel/http/client";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { Exposition } from "../metrics/exposition.ts";
import { BlobDepot } from "./blob-depot.ts";
import { BlobQuota } from "./blob-quota.ts";
import { BlobServer } from "./blob-server.ts";

const A = "agent-a" as AgentId;
const B = "agent-b" as AgentId;
const SECRET = agentSecret("5e".repeat(32));

const MIB = 2 ** 20;

/** Limits of a test; the others have their defaults. */
interface Limits {
  readonly vm?: number;
  readonly deployment?: number;
  readonly free?: number;
}

async function opened(there: readonly string[] = [A, B], limits: Limits = {}, secret = SECRET) {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const tools = { clock: systemClock, random: systemRandom };
  const authority = await openAuthority({ dir: join(path, "pki"), ...tools });
  const dir = join(path, "blobs");
  const sans = { dns: [], ips: ["127.0.0.1"] };
  const tls = await authority.issue({ commonName: "blobs", sans, usage: "server", days: 1 });
  const newQuota = () =>
    new BlobQuota({
      vmBytes: limits.vm ?? 2048 * MIB,
      deploymentBytes: limits.deployment ?? 8192 * MIB,
      deploymentsOf: async (agents) => new Map(agents.map((agentId) => [agentId, "shop"])),
    });
  const quota = newQuota();
  const free = limits.free === undefined ? {} : { freeSpace: async () => limits.free ?? 0 };
  const place = { dir, secret, url: "https://127.0.0.1:1", ca: authority.ca, ...free, ...tools };
  const depot = new BlobDepot({ ...place, quota });
  const errors: unknown[] = [];
  const server = new BlobServer({
    depot,
    ...{ host: "127.0.0.1", port: 0, tls, clock: systemClock },
    isThere: (agentId) => there.includes(agentId),
    onError: (error) => errors.push(error),
  });
  await server.start();
  onTestFinished(() => server.close());
  const client = new HttpClient({
    origin: `https://127.0.0.1:${server.port}`,
    clock: systemClock,
    tls: async () => ({ ca: authority.ca }),
  });
  onTestFinished(() => client.close());
  const ask = async (method: string, path: string, as: string | undefined, body?: string) => {
    const authorization = as === undefined ? {} : { authorization: as };
    const request = {
      method,
      path,
      headers: authorization,
      withinMs: 20_000,
      ...(body !== undefined && { body }),
    };
    const reply = await client.request(request);
    return { status: reply.status, body: await reply.text() };
  };
  const as = (agentId: AgentId) => basicAuth(agentId, secret.blobPasswordFor(agentId));
  const metrics = (of = quota) => {
    const told = new Exposition();
    of.tell(told);
    return told.text;
  };
  /** Opens a quota as a restarted Director does. */
  const restarted = async () => {
    const again = newQuota();
    await new BlobDepot({ ...place, quota: again }).count();
    return metrics(again);
  };
  return { dir, depot, ask, as, errors, metrics, restarted };
}

describe("blobs for agents on NATS", () => {
  it("are got by the agent they are for, as a dav blobstore gives them", async () => {
    const { depot, ask, as } = await opened();
    await depot.put(A, "pkg-1", Buffer.from("content"), undefined);
    expect(await ask("GET", "/ab/pkg-1", as(A))).toEqual({ status: 200, body: "content" });
    expect(await ask("HEAD", "/ab/pkg-1", as(A))).toEqual({ status: 200, body: "" });
    expect(await ask("GET", "/ab/none", as(A))).toMatchObject({ status: 404 });
  });

  it("are taken from the agent that made them, and removed when they are no longer needed", async () => {
    const { depot, ask, as } = await opened();
    expect(await ask("PUT", "/ab/log-1", as(A), "lines")).toMatchObject({ status: 201 });
    expect(await depot.get(A, "log-1", (content) => text(content), undefined)).toBe("lines");
    await depot.remove(A, "log-1");
    await expect(depot.get(A, "log-1", (content) => text(content), undefined)).rejects.toThrow(AgentRefused);
  });

  it("are closed to other agents, and to callers without the password of an agent that takes part", async () => {
    const { depot, ask, as } = await opened([A]);
    await depot.put(A, "x", Buffer.from("secret"), undefined);
    const wrong = [
      undefined,
      "Basic",
      "Bearer x",
      as(B),
      basicAuth(A, "wrong"),
      basicAuth(A, ""),
      basicAuth(A, SECRET.passwordFor(A)),
      basicAuth(B, SECRET.blobPasswordFor(A)),
      basicAuth("../pki", "x"),
    ];
    for (const one of wrong)
      expect(await ask("GET", "/ab/x", one), one).toMatchObject({ status: 401, body: "" });
    const both = await opened();
    await both.depot.put(A, "x", Buffer.from("secret"), undefined);
    expect(await both.ask("GET", "/ab/x", both.as(B))).toMatchObject({ status: 404 });
  });

  /** Returns everything that agent b reads or changes of agent a, with all names and passwords that it knows. */
  const taken = async ({ depot, ask, as }: Awaited<ReturnType<typeof opened>>) => {
    await depot.put(A, "rendered", Buffer.from("canary of a"), undefined);
    expect(await ask("PUT", "/ab/logs", as(A), "canary of a")).toMatchObject({ status: 201 });
    const own = /:(.*)$/.exec(Buffer.from(as(B).slice("Basic ".length), "base64").toString())?.[1] ?? "";
    const paths = ["/ab/rendered", "/ab/logs", `/${A}/logs`, `/ab/${A}/logs`, `/ab/..%2f${A}%2flogs`, "/ab/"];
    const found: string[] = [];
    for (const authorization of [
      as(B),
      basicAuth(A, own),
      basicAuth(`${B}/../${A}`, own),
      basicAuth("", own),
    ])
      for (const method of ["GET", "HEAD", "PUT", "DELETE", "PROPFIND", "COPY", "MOVE"])
        for (const path of paths) {
          const { body } = await ask(method, path, authorization, method === "PUT" ? "forged" : undefined);
          if (body.includes("canary")) found.push(`${method} ${path} shows it`);
        }
    for (const id of ["rendered", "logs"]) {
      const content = await depot.get(A, id, (stream) => text(stream), undefined).catch(() => "nothing");
      if (content !== "canary of a") found.push(`${id} is ${content}`);
    }
    return found;
  };

  it("are neither read nor replaced nor deleted by an agent of another deployment", async () => {
    expect(await taken(await opened())).toEqual([]);
  });

  it("are checked so that agents with one password for all are noticed", async () => {
    const careless = { ...SECRET, blobPasswordFor: () => "the same" };
    expect(await taken(await opened([A, B], {}, careless))).toEqual([
      ...["GET /ab/rendered shows it", "GET /ab/logs shows it", "rendered is nothing", "logs is nothing"],
    ]);
  });

  it("have ids, not paths", async () => {
    const { ask, as, dir, errors } = await opened();
    for (const path of [
      "/",
      "/ab/",
      "/ab/..",
      "/ab/%2e%2e%2fx",
      "/ab/.x",
      "/ab/a%2fb",
      "/ab/%zz",
      "/x/y/z",
      "/ab/a%00b",
    ])
      for (const method of ["GET", "PUT", "DELETE"])
        expect((await ask(method, path, as(A), method === "PUT" ? "x" : undefined)).status, path).toBe(404);
    expect(await readdir(dir).catch(() => [])).toEqual([]);
    expect(errors).toEqual([]);
  });

  it("are swept if their agent is gone", async () => {
    const { depot, dir } = await opened();
    await depot.put(A, "x", Buffer.from("1"), undefined);
    await depot.put(B, "x", Buffer.from("2"), undefined);
    await depot.sweep((agentId) => agentId === A);
    expect(await readdir(dir)).toEqual([A]);
    expect(await readdir(join(dir, A))).toEqual(["x"]);
  });

  it("are whole or not there", async () => {
    const { depot, dir } = await opened();
    const broken = async function* () {
      yield Buffer.from("half");
      throw new Error("broke off");
    };
    await expect(depot.put(A, "x", { size: 8, content: broken() }, undefined)).rejects.toThrow("broke off");
    expect(await readdir(join(dir, A))).toEqual([]);
    expect(await depot.take(A, "y", broken(), { size: 0, most: 3 })).toBe(false);
    expect(await readdir(join(dir, A))).toEqual([]);
  });
});

describe("quotas of the blob service", () => {
  const body = "x".repeat(MIB);

  it("refuses an agent more than the quota of its VM with 507 and the reason, and tells the operator once", async () => {
    const { ask, as, dir, errors, metrics } = await opened([A, B], { vm: 2 * MIB });
    for (const id of ["a", "b"])
      expect(await ask("PUT", `/ab/${id}`, as(A), body)).toMatchObject({ status: 201 });
    for (const id of ["c", "d"]) {
      const { status, body: said } = await ask("PUT", `/ab/${id}`, as(A), body);
      expect([status, said]).toEqual([
        507,
        expect.stringContaining("the VM has 2 MiB there, its quota is 2 MiB"),
      ]);
    }
    expect(await readdir(join(dir, A))).toEqual(["a", "b"]);
    expect(errors).toHaveLength(1);
    expect(await ask("PUT", "/ab/a", as(B), body)).toMatchObject({ status: 201 });
    expect(metrics()).toContain('slipway_agent_blob_refused_total{of="vm"} 2');
    expect(metrics()).toContain(`slipway_agent_blob_largest_vm_bytes{deployment="shop"} ${2 * MIB}`);
  });

  it("refuses the agents of a deployment more than its quota together, and takes more once blobs are fetched", async () => {
    const { ask, as, depot, metrics } = await opened([A, B], { deployment: 2 * MIB });
    for (const agent of [A, B])
      expect(await ask("PUT", "/ab/x", as(agent), body)).toMatchObject({ status: 201 });
    expect((await ask("PUT", "/ab/y", as(A), body)).body).toContain("deployment 'shop' has 2 MiB there");
    expect(metrics()).toContain(`slipway_agent_blob_bytes{deployment="shop"} ${2 * MIB}`);
    await depot.remove(B, "x");
    expect(await ask("PUT", "/ab/y", as(A), body)).toMatchObject({ status: 201 });
  });

  it("counts uploads that come at the same time together", async () => {
    const { ask, as, dir } = await opened([A], { vm: 3 * MIB });
    const puts = Array.from({ length: 8 }, (_, at) => ask("PUT", `/ab/x${at}`, as(A), body));
    const statuses = (await Promise.all(puts)).map(({ status }) => status);
    const taken = statuses.filter((status) => status === 201).length;
    expect(taken).toBeLessThanOrEqual(3);
    expect(statuses.filter((status) => status === 507)).toHaveLength(8 - taken);
    expect(await readdir(join(dir, A))).toHaveLength(taken);
    // What was refused is not held against the agent.
    for (const id of await readdir(join(dir, A))) await ask("DELETE", `/ab/${id}`, as(A));
    expect(await ask("PUT", "/ab/after", as(A), body)).toMatchObject({ status: 201 });
  });

  it("counts a blob that replaces another once, and what is found after a restart", async () => {
    const { ask, as, restarted } = await opened([A], { vm: 3 * MIB });
    for (let nth = 0; nth < 5; nth++)
      expect(await ask("PUT", "/ab/same", as(A), body)).toMatchObject({ status: 201 });
    expect(await restarted()).toContain(`slipway_agent_blob_bytes{deployment=""} ${MIB}`);
  });

  it("leaves the Director's own blobs for an agent out of its quota", async () => {
    const { ask, as, depot } = await opened([A], { vm: MIB });
    await depot.put(A, "package", Buffer.alloc(4 * MIB), undefined);
    expect(await ask("PUT", "/ab/logs", as(A), body)).toMatchObject({ status: 201 });
  });

  it("refuses what would take the disk space that the Director needs itself", async () => {
    const { ask, as } = await opened([A], { free: 1000 });
    expect(await ask("PUT", "/ab/small", as(A), "x")).toMatchObject({ status: 201 });
    const { status, body: said } = await ask("PUT", "/ab/large", as(A), body);
    expect([status, said]).toEqual([507, expect.stringContaining("no more room")]);
  });

  it("refuses more blobs than a thousand, also empty ones", async () => {
    const { depot, ask, as } = await opened([A]);
    const nothing = async function* () {};
    for (let nth = 0; nth < 1000; nth++) await depot.take(A, `x${nth}`, nothing(), { size: 0, most: 1 });
    expect(await ask("PUT", "/ab/more", as(A), "")).toMatchObject({ status: 507 });
  });
});
