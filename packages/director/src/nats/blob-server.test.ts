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
import { BlobDepot } from "./blob-depot.ts";
import { BlobServer } from "./blob-server.ts";

const A = "agent-a" as AgentId;
const B = "agent-b" as AgentId;
const secret = agentSecret("5e".repeat(32));

async function opened(there: readonly string[] = [A, B]) {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const tools = { clock: systemClock, random: systemRandom };
  const authority = await openAuthority({ dir: join(path, "pki"), ...tools });
  const dir = join(path, "blobs");
  const sans = { dns: [], ips: ["127.0.0.1"] };
  const tls = await authority.issue({ commonName: "blobs", sans, usage: "server", days: 1 });
  const depot = new BlobDepot({ dir, secret, url: "https://127.0.0.1:1", ca: authority.ca, ...tools });
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
  return { dir, depot, ask, as, errors };
}

describe("blobs for agents on NATS", () => {
  it("are got by the agent they are for, as a dav blobstore gives them", async () => {
    const { depot, ask, as } = await opened();
    await depot.put(A, "pkg-1", Buffer.from("content"), undefined);
    expect(await ask("GET", "/ab/pkg-1", as(A))).toEqual({ status: 200, body: "content" });
    expect(await ask("HEAD", "/ab/pkg-1", as(A))).toEqual({ status: 200, body: "" });
    expect(await ask("GET", "/ab/none", as(A))).toMatchObject({ status: 404 });
  });

  it("that an agent made are taken from it, and removed when nobody needs them", async () => {
    const { depot, ask, as } = await opened();
    expect(await ask("PUT", "/ab/log-1", as(A), "lines")).toMatchObject({ status: 201 });
    expect(await depot.get(A, "log-1", (content) => text(content), undefined)).toBe("lines");
    await depot.remove(A, "log-1");
    await expect(depot.get(A, "log-1", (content) => text(content), undefined)).rejects.toThrow(AgentRefused);
  });

  it("are no other agent's, and nobody's without the password of an agent that takes part", async () => {
    const { depot, ask, as } = await opened([A]);
    await depot.put(A, "x", Buffer.from("secret"), undefined);
    const wrong = [
      undefined,
      "Basic",
      "Bearer x",
      as(B),
      basicAuth(A, "wrong"),
      basicAuth(A, ""),
      basicAuth(A, secret.passwordFor(A)),
      basicAuth(B, secret.blobPasswordFor(A)),
      basicAuth("../pki", "x"),
    ];
    for (const one of wrong)
      expect(await ask("GET", "/ab/x", one), one).toMatchObject({ status: 401, body: "" });
    const both = await opened();
    await both.depot.put(A, "x", Buffer.from("secret"), undefined);
    expect(await both.ask("GET", "/ab/x", both.as(B))).toMatchObject({ status: 404 });
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

  it("of agents that are gone are swept", async () => {
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
    expect(await depot.write(A, "y", broken(), 3)).toBe(false);
    expect(await readdir(join(dir, A))).toEqual([]);
  });
});
