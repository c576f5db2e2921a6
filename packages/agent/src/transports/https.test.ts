import { once } from "node:events";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { AGENT_SERVER, AGENT_SERVER_NEXT, CA, DIRECTOR, STRANGER } from "@slipway/testkit/certificates";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { call, post } from "@slipway/testkit/https-client";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { gate } from "../dispatch/testing/dispatching.ts";
import { silentLog } from "../log.ts";
import { blobDirectory } from "./blob-directory.ts";
import { type HttpsOptions, httpsTransport } from "./https.ts";
import type { RequestHandler } from "./transport.ts";

const echo: RequestHandler = async (body) =>
  body === "{"
    ? { kind: "unreadable" }
    : { kind: "reply", reply: { value: JSON.parse(body) }, replyTo: undefined };

interface Setup extends Partial<HttpsOptions> {
  readonly handler?: RequestHandler;
  readonly largestBlob?: number;
  readonly clock?: Clock;
}

async function listening({ handler = echo, largestBlob, ...options }: Setup = {}) {
  const { path, remove } = await temporaryDirectory();
  const blobs = join(path, "data", "blobs");
  const transport = httpsTransport({
    url: "https://mbus:s3cret@127.0.0.1:0",
    credentials: AGENT_SERVER,
    blobs: blobDirectory(blobs, systemRandom, largestBlob === undefined ? {} : { largest: largestBlob }),
    log: silentLog,
    clock: systemClock,
    ...options,
  });
  await transport.start(handler);
  onTestFinished(async () => {
    await transport.close();
    await remove();
  });
  return { transport, port: transport.port, blobs };
}

/** A request that was taken, and is answered when `slow` is opened. */
async function answering() {
  const slow = gate();
  const began = gate();
  const { port, transport } = await listening({
    handler: async () => {
      began.open();
      await slow.passed;
      return { kind: "reply", reply: { value: 1 }, replyTo: undefined };
    },
  });
  const underWay = post(port, "{}");
  await began.passed;
  return { port, transport, slow, underWay };
}

describe("POST /agent", () => {
  it("answers 200 with the reply, also when it is an exception or larger than NATS would carry", async () => {
    const { port } = await listening();
    expect(await post(port, '"pong"')).toMatchObject({ status: 200, text: '{"value":"pong"}' });
    const large = JSON.stringify("x".repeat(2 << 20));
    expect((await post(port, large)).text).toBe(`{"value":${large}}`);
    const failing = await listening({
      handler: async () => ({ kind: "reply", reply: { exception: { message: "no" } }, replyTo: undefined }),
    });
    expect(await post(failing.port, "{}")).toMatchObject({
      status: 200,
      text: '{"exception":{"message":"no"}}',
    });
  });

  it("answers what is not a request with 500 and nothing else", async () => {
    const { port } = await listening();
    expect(await post(port, "{")).toMatchObject({ status: 500, text: "" });
  });

  it("repeats the reply to a repeated request", async () => {
    const { port } = await listening({
      handler: async () => ({ kind: "reply", reply: { value: 1 }, replyTo: "r", repeated: true }),
    });
    expect(await post(port, "{}")).toMatchObject({ status: 200, text: '{"value":1}' });
  });

  it("is open to others while one takes its time", async () => {
    const slow = gate();
    const { port } = await listening({
      handler: async (body) => {
        if (body === "slow") await slow.passed;
        return { kind: "reply", reply: { value: body }, replyTo: undefined };
      },
    });
    const first = post(port, "slow");
    expect((await post(port, "fast")).text).toBe('{"value":"fast"}');
    slow.open();
    expect((await first).text).toBe('{"value":"slow"}');
  });

  it("refuses a body beyond the limit and goes on", async () => {
    const { port } = await listening({ limits: { largestRequest: 1000 } });
    expect(await post(port, JSON.stringify("x".repeat(5000)))).toMatchObject({ status: 413 });
    expect(await post(port, "1")).toMatchObject({ status: 200 });
  });

  it("answers 500 when the handler breaks, and goes on", async () => {
    const { port } = await listening({
      handler: async (body) => {
        if (body === "break") throw new Error("bug");
        return { kind: "reply", reply: { value: 1 }, replyTo: undefined };
      },
    });
    expect(await post(port, "break")).toMatchObject({ status: 500, text: "" });
    expect(await post(port, "fine")).toMatchObject({ status: 200 });
  });
});

describe("authentication", () => {
  it.each([null, "mbus:wrong", "mbus:", "mbus:s3cret2", "Mbus:s3cret", "other:s3cret", "mbus:s3cre"])(
    "answers %s with 401 and upstream's challenge",
    async (auth) => {
      const { port } = await listening();
      for (const answer of [
        await post(port, "1", { auth }),
        await call(port, "/blobs/ab/x", { auth }),
        await call(port, "/blobs/ab/x", { auth, method: "PUT", body: "x".repeat(1 << 20) }),
      ]) {
        expect(answer).toMatchObject({ status: 401, text: "" });
        expect(answer.headers["www-authenticate"]).toBe('Basic realm=""');
      }
    },
  );

  it("takes the name and password of the URL, percent-encoded there", async () => {
    const { port } = await listening({ url: "https://mbus:p%40ss%3Aword%C3%A4@127.0.0.1:0" });
    const authorization = `Basic ${Buffer.from("mbus:p@ss:wordä").toString("base64")}`;
    expect(await post(port, "1", { auth: null, headers: { authorization } })).toMatchObject({ status: 200 });
  });

  it("needs a certificate of the client CA as well, when there is one", async () => {
    const { port } = await listening({ clientCa: CA });
    const director = { cert: DIRECTOR.certificate, key: DIRECTOR.privateKey };
    expect(await post(port, "1", director)).toMatchObject({ status: 200 });
    expect(await post(port, "1", { ...director, auth: null })).toMatchObject({ status: 401 });
    await expect(post(port, "1")).rejects.toThrow();
    await expect(post(port, "1", { cert: STRANGER.certificate, key: STRANGER.privateKey })).rejects.toThrow();
  });

  it("speaks TLS 1.2 at least", async () => {
    const { port } = await listening();
    expect(await post(port, "1", { maxVersion: "TLSv1.2" })).toMatchObject({ status: 200 });
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    await expect(post(port, "1", old)).rejects.toThrow(/protocol version/);
  });
});

describe("routes", () => {
  it.each(["/", "/nope", "/agents", "/agent/", "/blobs", "/blobsx/a", "//agent"])(
    "that do not exist are 404 to anybody: %s",
    async (path) => {
      const { port } = await listening();
      expect(await call(port, path, { auth: null })).toMatchObject({ status: 404, text: "" });
      expect(await call(port, path, { method: "POST", body: "x" })).toMatchObject({ status: 404 });
    },
  );

  it.each(["GET", "PUT", "HEAD", "DELETE"])("do not include %s for /agent", async (method) => {
    const { port } = await listening();
    expect(await call(port, "/agent", { method })).toMatchObject({ status: 404 });
  });

  it.each(["HEAD", "DELETE", "POST", "PATCH"])("do not include %s for blobs", async (method) => {
    const { port } = await listening();
    expect(await call(port, "/blobs/ab/x", { method })).toMatchObject({ status: 404 });
  });
});

describe("blobs", () => {
  const put = (port: number, path: string, body: string | Buffer) =>
    call(port, path, { method: "PUT", body });

  it("are put under the last part of the path and got back byte for byte", async () => {
    const { port, blobs } = await listening();
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
    expect(await put(port, "/blobs/ab/blob-1", bytes)).toMatchObject({ status: 201, text: "" });
    const got = await call(port, "/blobs/zz/yy/blob-1?x=1");
    expect(got.status).toBe(200);
    expect(got.body.equals(bytes)).toBe(true);
    expect((await stat(join(blobs, "blob-1"))).mode & 0o777).toBe(0o640);
    await put(port, "/blobs/blob-1", "again");
    expect(await call(port, "/blobs/blob-1")).toMatchObject({ status: 200, text: "again" });
    expect(await call(port, "/blobs/ab/blob-2")).toMatchObject({ status: 404, text: "" });
  });

  it.each([
    "",
    ".",
    "..",
    "%2e%2e",
    "a%2Fb",
    "..%2F..%2Fetc%2Fpasswd",
    "%00",
    "%zz",
    ".upload-1",
    "x".repeat(256),
  ])("reject the id '%s'", async (id) => {
    const { port, blobs } = await listening();
    expect(await put(port, `/blobs/ab/${id}`, "x")).toMatchObject({ status: 400 });
    expect(await call(port, `/blobs/ab/${id}`)).toMatchObject({ status: 404 });
    await expect(readdir(blobs)).rejects.toThrow("ENOENT");
  });

  it("are refused beyond the limit and leave nothing, not even of the older one", async () => {
    const { port, blobs } = await listening({ largestBlob: 100_000 });
    await put(port, "/blobs/a", "older");
    expect(await put(port, "/blobs/a", Buffer.alloc(3_000_000))).toMatchObject({
      status: 413,
      text: "the blob is larger than the 100000 bytes this agent takes",
    });
    expect(await readdir(blobs)).toEqual(["a"]);
    expect(await readFile(join(blobs, "a"), "utf8")).toBe("older");
  });

  it("are answered with 500 and the cause if they cannot be stored", async () => {
    const { port, blobs } = await listening();
    await mkdir(join(blobs, "a"), { recursive: true });
    expect(await put(port, "/blobs/a", "x")).toMatchObject({
      status: 500,
      text: expect.stringContaining("EISDIR"),
    });
    expect(await readdir(blobs)).toEqual(["a"]);
    expect(await call(port, "/blobs/a")).toMatchObject({ status: 404 });
  });

  it("leave no file if their sender goes away, and leftovers of a killed agent are removed", async () => {
    const { port, blobs, transport } = await listening();
    await mkdir(blobs, { recursive: true });
    await writeFile(join(blobs, ".upload-left"), "half");
    const upload = httpsRequest({
      host: "127.0.0.1",
      port,
      path: "/blobs/a",
      method: "PUT",
      ca: CA,
      auth: "mbus:s3cret",
      headers: { "content-length": 1000 },
    });
    upload.on("error", () => {});
    upload.write("half of it");
    await expect.poll(() => readdir(blobs)).toEqual([expect.stringMatching(/^\.upload-(?!left)/)]);
    upload.destroy();
    await expect.poll(() => readdir(blobs)).toEqual([]);
    await transport.close();
  });
});

describe("slow clients", () => {
  it("are cut off if they fall silent within a body", async () => {
    const clock = fakeClock();
    const { port } = await listening({ clock });
    const socket = connect({ host: "127.0.0.1", port, ca: CA });
    await once(socket, "secureConnect");
    const authorization = `Basic ${Buffer.from("mbus:s3cret").toString("base64")}`;
    socket.write(
      `POST /agent HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Length: 9\r\n\r\n{`,
    );
    const closed = once(socket.resume(), "close");
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(60_000);
    await closed;
  });

  it("are cut off if they never finish their headers", async () => {
    const { port } = await listening({ limits: { headersMs: 50 } });
    const socket = connect({ host: "127.0.0.1", port, ca: CA });
    await once(socket, "secureConnect");
    // A reset closes it, too; `once` of events would fail for it.
    socket.on("error", () => undefined);
    const closed = new Promise((resolve) => socket.resume().once("close", resolve));
    socket.write("POST /agent HTTP/1.1\r\nHost:");
    await closed;
    expect(socket.closed).toBe(true);
  });
});

describe("rotation", () => {
  const commonName = async (port: number) => {
    const socket: TLSSocket = connect({ host: "127.0.0.1", port, ca: CA });
    await once(socket, "secureConnect");
    const name = socket.getPeerCertificate().subject.CN;
    socket.destroy();
    return name;
  };

  it("gives new connections the new certificate and lets those under way finish", async () => {
    const { port, transport, slow, underWay } = await answering();
    expect(await commonName(port)).toBe("agent-1.agent.bosh-internal");
    await transport.rotate(AGENT_SERVER_NEXT);
    expect(await commonName(port)).toBe("agent-1.next.bosh-internal");
    slow.open();
    expect(await underWay).toMatchObject({ status: 200 });
  });

  it("refuses a pair that does not match and changes nothing; the client CA stays", async () => {
    const { port, transport } = await listening({ clientCa: CA });
    const torn = { ...AGENT_SERVER_NEXT, privateKey: AGENT_SERVER.privateKey };
    expect(() => transport.rotate(torn)).toThrow(/cannot be used: .*key values mismatch/);
    const director = { cert: DIRECTOR.certificate, key: DIRECTOR.privateKey };
    expect(await post(port, "1", director)).toMatchObject({ status: 200 });
    await transport.rotate(AGENT_SERVER_NEXT);
    await expect(post(port, "1")).rejects.toThrow();
    expect(await post(port, "1", director)).toMatchObject({ status: 200 });
  });
});

describe("starting and ending", () => {
  const options: HttpsOptions = {
    url: "https://mbus:s3cret@127.0.0.1:0",
    credentials: AGENT_SERVER,
    blobs: blobDirectory("/nonexistent", systemRandom),
    log: silentLog,
    clock: systemClock,
  };

  it("is refused without a usable pair, a password, or an https URL", () => {
    for (const part of ["certificate", "privateKey"] as const)
      for (const content of ["", "junk"])
        expect(() =>
          httpsTransport({ ...options, credentials: { ...AGENT_SERVER, [part]: content } }),
        ).toThrow("the certificate and key of the message bus cannot be used");
    for (const url of [
      "https://127.0.0.1:0",
      "https://mbus@127.0.0.1",
      "https://:x@127.0.0.1",
      "http://a:b@c",
      "x",
    ])
      expect(() => httpsTransport({ ...options, url })).toThrow("the message bus URL is not usable");
  });

  it("names neither user nor password, and says which port is taken", async () => {
    const { port } = await listening();
    const second = httpsTransport({ ...options, url: `https://mbus:s3cret@127.0.0.1:${port}` });
    expect(second.description).toBe(`https://127.0.0.1:${port}`);
    await expect(second.start(echo)).rejects.toThrow(`cannot listen on 127.0.0.1 port ${port}`);
  });

  it("drops heartbeats, since there is no listener", async () => {
    const { transport } = await listening();
    await expect(transport.publish("heartbeat", {})).resolves.toBeUndefined();
  });

  it("closes at once while a client holds a connection without a TLS handshake", async () => {
    const { transport, port } = await listening({ clock: fakeClock(), limits: { handshakeMs: 600_000 } });
    const held = connectTcp({ port, host: "127.0.0.1" }).resume();
    held.on("error", () => undefined);
    const gone = once(held, "close");
    await once(held, "connect");
    expect((await post(port, "1")).status).toBe(200);
    await transport.close();
    await gone;
  });

  it("finishes the answers under way", async () => {
    const { transport, slow, underWay } = await answering();
    const closed = transport.close();
    slow.open();
    expect(await underWay).toMatchObject({ status: 200, text: '{"value":1}' });
    await closed;
  });
});
