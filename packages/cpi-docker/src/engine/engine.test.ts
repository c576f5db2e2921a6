import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import { AGENT_SERVER, CA, DIRECTOR } from "@slipway/testkit/certificates";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { cpiDocker } from "../cpi-docker.ts";
import { addressOf } from "./address.ts";
import { tarOf } from "./archive.ts";
import { Engine } from "./engine.ts";
import { execIn } from "./exec.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "slipway-fake-engine-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

let last = 0;
/** Starts an engine whose answers the listener gives, behind a socket of its own. */
async function fake(listener: RequestListener): Promise<string> {
  const path = join(dir, `${++last}.sock`);
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => stop(server));
  return `unix://${path}`;
}
const stop = (server: Server) => {
  server.closeAllConnections();
  server.close();
};
const versions =
  (ApiVersion: string, MinAPIVersion?: string): RequestListener =>
  (_, response) =>
    void response.end(JSON.stringify({ ApiVersion, MinAPIVersion }));

async function refusal(host: string, more: object = {}): Promise<string> {
  const cpi = embed(cpiDocker, { config: { docker: { dir, host, ...more } } });
  const request = { method: "has_vm", arguments: ["vm-1"], context: { director_uuid: "d" }, api_version: 2 };
  const { error } = await cpi.request(request);
  return `${error?.type} ${error?.message}`;
}

describe("an engine that cannot be used", () => {
  it.each([
    [
      "nobody at the socket",
      async () => `unix://${dir}/none.sock`,
      /CloudError DOC-001.*no such socket.*Start the engine/,
    ],
    ["nobody at the port", async () => "tcp://127.0.0.1:1", /DOC-001.*nobody listens/],
    ["no address", async () => "ftp://x", /DOC-004/],
    ["plain TCP to another host", async () => "tcp://192.0.2.1:2375", /DOC-017.*docker\.tls/],
    ["a relative socket", async () => "unix://docker.sock", /DOC-004/],
    ["too old", () => fake(versions("1.24")), /DOC-002.*1\.24.*1\.40 to/],
    ["too new", () => fake(versions("1.60", "1.49")), /DOC-002.*1\.49 to 1\.60.*1\.40 to 1\.48/],
    ["a version that is none", () => fake(versions("latest")), /DOC-005.*ApiVersion/],
    ["no engine at all", () => fake((_, response) => void response.end("<html>")), /DOC-005.*no JSON/],
    ["another API", () => fake((_, response) => void response.end('{"a":1}')), /DOC-005.*ApiVersion/],
    [
      "a proxy that refuses",
      () => fake((_, response) => void response.writeHead(502).end("bad")),
      /DOC-003.*502: bad/,
    ],
    [
      "an engine that dies while it answers",
      () =>
        fake((request, response) => {
          response.writeHead(200, { "content-length": "100" });
          response.write("{", () => request.socket.destroy());
        }),
      /DOC-001.*in the middle of an answer/,
    ],
    ["an engine that hangs up", () => fake((request) => void request.socket.destroy()), /DOC-001/],
  ])("is told apart: %s", async (_, host, said) => {
    expect(await refusal(await host())).toMatch(said);
  });

  it("is not waited for longer than the call may take", async () => {
    const host = await fake(() => undefined);
    const cut = AbortSignal.timeout(100);
    await expect(Engine.open(addressOf({ host }), cut)).rejects.toThrow(/timeout|aborted/);
  });
});

describe("an engine behind TLS", () => {
  const listen = async () => {
    const options = { ca: CA, cert: AGENT_SERVER.certificate, key: AGENT_SERVER.privateKey };
    const server = createTlsServer(
      { ...options, requestCert: true, rejectUnauthorized: true },
      versions("1.41"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => stop(server));
    return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const tls = { ca: CA, certificate: DIRECTOR.certificate, private_key: DIRECTOR.privateKey };

  it("is reached with a certificate", async () => {
    const host = await listen();
    expect((await Engine.open(addressOf({ host, tls }))).version).toBe("1.41");
  });

  it("is not reached without one, nor trusted without its authority, and no key is shown", async () => {
    const host = await listen();
    expect(await refusal(host)).toMatch(/DOC-00/);
    const other = { ...tls, ca: AGENT_SERVER.certificate };
    const said = await refusal(host, { tls: other });
    expect(said).toMatch(/DOC-001/);
    expect(said).not.toContain("PRIVATE KEY");
  });
});

describe("the version of the API", () => {
  it.each([
    ["Docker 20.10", "1.41", "1.12", "1.41"],
    ["Docker 26.1", "1.45", "1.24", "1.45"],
    ["Docker 28.5", "1.51", "1.24", "1.48"],
    ["Docker 29", "1.52", "1.44", "1.48"],
    ["podman", "1.41", "1.24", "1.41"],
    ["one whose oldest is our newest", "1.99", "1.48", "1.48"],
    ["one that does not say its oldest", "1.40", undefined, "1.40"],
  ])("for %s (%s, from %s) the version is %s", async (_, newest, oldest, chosen) => {
    const host = await fake(versions(newest, oldest));
    expect((await Engine.open(addressOf({ host }))).version).toBe(chosen);
  });

  it.each([
    ["Docker 20.10, which need not be asked", "1.41", "1.12", "1.41", [0, 0]],
    ["Docker 29, which is asked once", "1.52", "1.44", "1.48", [1, 1]],
  ])("goes by the ping of %s", async (_, newest, oldest, chosen, asked) => {
    let times = 0;
    const host = await fake((request, response) => {
      if (request.url === "/_ping") return void response.writeHead(200, { "api-version": newest }).end("OK");
      times += 1;
      response.end(JSON.stringify({ ApiVersion: newest, MinAPIVersion: oldest }));
    });
    const seen: number[] = [];
    for (const _time of [1, 2]) {
      expect((await Engine.open(addressOf({ host }))).version).toBe(chosen);
      seen.push(times);
    }
    expect(seen).toEqual(asked);
  });

  it("is asked again of an engine that was replaced by one that is too new", async () => {
    let newest = "1.52";
    const host = await fake((request, response) => {
      if (request.url === "/_ping") return void response.writeHead(200, { "api-version": newest }).end("OK");
      response.end(
        JSON.stringify({ ApiVersion: newest, MinAPIVersion: newest === "1.52" ? "1.44" : "1.50" }),
      );
    });
    const engine = await Engine.open(addressOf({ host }));
    expect(engine.version).toBe("1.48");
    // However lately it has answered.
    await engine.run({ doing: "asking", method: "GET", path: "/info" });
    newest = "1.60";
    await expect(Engine.open(addressOf({ host }))).rejects.toThrow(/1\.50 to 1\.60/);
  });
});

describe("what a container says", () => {
  it("is put together whatever pieces it comes in", async () => {
    const frame = (to: number, text: string) => {
      const head = Buffer.alloc(8);
      head[0] = to;
      head.writeUInt32BE(Buffer.byteLength(text), 4);
      return Buffer.concat([head, Buffer.from(text)]);
    };
    const bytes = Buffer.concat([frame(1, "one "), frame(2, "wrong"), frame(1, "two")]);
    const host = await fake((request, response) => {
      const { url = "" } = request;
      if (url === "/version") response.end('{"ApiVersion":"1.41"}');
      else if (url.endsWith("/start")) {
        for (const byte of bytes) response.write(Buffer.of(byte));
        response.end();
      } else if (url.endsWith("/json")) response.end('{"Running":false,"ExitCode":3}');
      else response.end('{"Id":"x"}');
    });
    const engine = await Engine.open(addressOf({ host }));
    expect(await execIn(engine, "c", ["x"], "a test")).toEqual({
      code: 3,
      stdout: "one two",
      stderr: "wrong",
    });
  });
});

describe("an upload", () => {
  it("may be refused before it is whole, and the refusal is heard", async () => {
    const host = await fake((request, response) => {
      if (request.url === "/version") return void response.end('{"ApiVersion":"1.41"}');
      request.resume();
      response.writeHead(500).end('{"message":"disk full"}');
    });
    const engine = await Engine.open(addressOf({ host }));
    async function* endless() {
      for (let turn = 0; turn < 64; turn++) yield Buffer.alloc(1 << 16);
    }
    const call = { doing: "sending", method: "POST", path: "/x", body: endless() } as const;
    await expect(engine.json(v.unknown(), call)).rejects.toThrow("disk full");
  });
});

describe("an archive", () => {
  it("has what tar reads out of it, with the rights it was given", async () => {
    const content = `ü${"x".repeat(700)}`;
    const tar = await tarOf([
      { name: "a/b/settings.json", content, mode: 0o600 },
      { name: "a/empty", content: "", mode: 0o644 },
    ]);
    const list = execFileSync("tar", ["-tvf", "-"], { input: tar, encoding: "utf8" });
    expect(list).toMatch(/-rw------- 0\/0 +702 .* a\/b\/settings\.json/);
    expect(execFileSync("tar", ["-xOf", "-", "a/b/settings.json"], { input: tar, encoding: "utf8" })).toBe(
      content,
    );
  });
});
