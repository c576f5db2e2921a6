import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { request } from "node:https";
import { connect } from "node:tls";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { TEST_CERT } from "@slipway/testkit/tls-fixture";
import { latch } from "@slipway/testkit/waiting";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { basic, type Harness, startHarness } from "./testing/harness.ts";
import { UploadSpace } from "./upload-space.ts";

let api: Harness;
beforeAll(async () => {
  api = await startHarness();
});
afterAll(() => api.close());
beforeEach(() => void api.queued.splice(0));

const archive = (body: string | Buffer, more = {}) => ({ type: "application/x-compressed", body, ...more });

describe("routing", () => {
  it.each([
    ["GET", "/nothing", undefined],
    ["GET", "/", undefined],
    ["PATCH", "/tasks", undefined],
    ["HEAD", "/tasks", undefined],
    ["POST", "/tasks/cancel", "text/yaml"],
    ["POST", "/stemcells", "multipart/form-data"],
    ["POST", "/stemcells", undefined],
    ["POST", "/stemcells", "!!"],
  ])("%s %s with type %s is no such route: 404 in plain text", async (method, path, type) => {
    const answer = await api.ask(method, path, { ...(type === undefined ? {} : { type }), body: "{}" });
    expect(answer.status).toBe(404);
    if (method !== "HEAD") expect(answer.headers["content-type"]).toContain("text/plain");
  });

  it("takes a content type with parameters, in any case", async () => {
    const answer = await api.ask("POST", "/tasks/cancel", {
      type: "Application/JSON; charset=utf-8",
      body: "{}",
    });
    expect(answer.status).toBe(204);
  });

  it("takes a trailing ?, and parameters it does not know", async () => {
    expect((await api.get("/tasks?")).status).toBe(200);
    expect((await api.get("/tasks?unknown=1&unknown=2&__proto__=x")).status).toBe(200);
  });

  it.each([
    ["/disks/a%2Fb%3Bc", "a/b;c"],
    ["/disks/a%252Fb", "a%2Fb"],
    ["/disks/a+b", "a+b"],
    ["/disks/a%2Bb%20c", "a+b c"],
    ["/disks/%C3%A4", "ä"],
    ["/disks/..%2F..", "../.."],
    [`/disks/${"x".repeat(2000)}`, "x".repeat(2000)],
  ])("%s names a disk", async (path, cid) => {
    expect((await api.ask("DELETE", path)).status).toBe(302);
    expect(api.queued[0]?.params).toEqual({ disk_cids: [cid] });
  });

  it("keeps a + in the version of a stemcell", async () => {
    await api.ask("DELETE", "/stemcells/tiny/1.2+dev.1?force=true");
    expect(api.queued[0]).toMatchObject({
      type: "delete_stemcell",
      description: "delete stemcell: tiny/1.2+dev.1",
      params: { name: "tiny", version: "1.2+dev.1", force: true },
    });
  });

  it("answers a path that cannot be decoded with 400", async () => {
    expect((await api.ask("DELETE", "/disks/%zz")).status).toBe(400);
  });

  it("sends callers to their task with a relative 302 and nothing else", async () => {
    const answer = await api.ask("DELETE", "/vms/vm-1");
    expect(answer).toMatchObject({ status: 302, headers: { location: "/tasks/1" }, body: "" });
    expect(api.queued).toEqual([
      {
        type: "delete_vm",
        description: "delete vm vm-1",
        user: "admin",
        contextId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        params: { vm_cid: "vm-1" },
      },
    ]);
  });

  it("keeps X-Bosh-Context-Id up to 64 characters", async () => {
    const named = (id: string) => api.ask("DELETE", "/vms/v", { headers: { "x-bosh-context-id": id } });
    await named("c".repeat(64));
    expect(api.queued[0]?.contextId).toBe("c".repeat(64));
    expect(await named("c".repeat(65))).toMatchObject({ status: 400, json: { code: 70010 } });
  });
});

describe("bodies", () => {
  const cancel = (body: string | Buffer) =>
    api.ask("POST", "/tasks/cancel", { type: "application/json", body });

  it.each([
    ["", 710001],
    ["{", 710001],
    ['{"a":1,"a":2}', 710001],
    ['{"__proto__":{}}', 710001],
    ["[".repeat(200), 710001],
    ["[]", 40005],
    ["null", 40005],
    ['{"states":["done"]}', 40005],
    ['{"deployment":7}', 40005],
    [Buffer.from([0xff, 0xfe]), 40005],
  ])("%j is refused with code %i", async (body, code) => {
    expect(await cancel(body)).toMatchObject({ status: 400, json: { code } });
  });

  it("larger than 16 MiB are refused with 413, announced or not, and the answer arrives", async () => {
    const big = Buffer.alloc((16 << 20) + 1, 0x20);
    expect((await cancel(big)).status).toBe(413);
    const chunked = await new Promise<number>((resolve, reject) => {
      const outgoing = request(
        {
          host: "127.0.0.1",
          port: api.port,
          method: "POST",
          path: "/tasks/cancel",
          ca: TEST_CERT,
          agent: false,
          headers: { authorization: basic("admin", "admin-pw"), "content-type": "application/json" },
        },
        (response) => resolve(response.resume().statusCode ?? 0),
      );
      outgoing.once("error", reject);
      outgoing.end(big);
    });
    expect(chunked).toBe(413);
  });

  it("headers larger than 32 KiB are refused", async () => {
    const answer = await api.ask("GET", "/info", { headers: { "x-long": "x".repeat(40_000) } });
    // Who keeps connections learns that this one ends.
    expect(answer).toMatchObject({ status: 431, headers: { connection: "close" } });
  });
});

describe("an uploaded stemcell", () => {
  it("is streamed into a private file, and a task is started for it", async () => {
    const bytes = Buffer.alloc(3 << 20, "stemcell");
    const answer = await api.ask("POST", "/stemcells?fix=true", archive(bytes));
    expect(answer.status).toBe(302);
    const { path, fix } = (api.queued[0]?.params ?? {}) as { path: string; fix: boolean };
    expect(fix).toBe(true);
    expect(path.startsWith(api.uploadsDir)).toBe(true);
    expect((await readFile(path)).equals(bytes)).toBe(true);
  });

  it("is refused if it is empty, as after a repeated 401, and leaves nothing", async () => {
    const before = await readdir(api.uploadsDir);
    const answer = await api.ask("POST", "/stemcells?", archive(""));
    expect(answer).toMatchObject({ status: 400, json: { code: 50000 } });
    expect(await readdir(api.uploadsDir)).toEqual(before);
    expect(api.queued).toEqual([]);
  });

  it("gets its 401 without credentials however large it is, and leaves nothing", async () => {
    const before = await readdir(api.uploadsDir);
    const answer = await api.ask("POST", "/stemcells?", archive(Buffer.alloc(8 << 20), { user: null }));
    expect(answer.status).toBe(401);
    expect(await readdir(api.uploadsDir)).toEqual(before);
  });

  it("is answered also when its sender reads only after it has sent everything", async () => {
    const socket = connect({ host: "127.0.0.1", port: api.port, ca: TEST_CERT, servername: "localhost" });
    socket.pause();
    const size = 32 << 20;
    const answer = await new Promise<string>((resolve, reject) => {
      socket.once("error", reject);
      socket.write(
        "POST /stemcells HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
          `Content-Type: application/x-compressed\r\nContent-Length: ${size}\r\n\r\n`,
      );
      socket.write(Buffer.alloc(size), () => {
        let text = "";
        socket.on("data", (chunk: Buffer) => {
          text += chunk.toString("utf8");
        });
        socket.once("end", () => resolve(text));
        socket.resume();
      });
    });
    expect(answer).toContain("HTTP/1.1 401");
  });

  it("leaves nothing and starts nothing if it is cut off", async () => {
    const before = await readdir(api.uploadsDir);
    const socket = connect({ host: "127.0.0.1", port: api.port, ca: TEST_CERT, servername: "localhost" });
    socket.on("error", () => undefined);
    socket.write(
      `POST /stemcells HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("admin", "admin-pw")}\r\n` +
        "Content-Type: application/x-compressed\r\nContent-Length: 1000000\r\n\r\nhalf",
    );
    await expect.poll(async () => (await readdir(api.uploadsDir)).length).toBe(before.length + 1);
    socket.destroy();
    await expect.poll(() => readdir(api.uploadsDir)).toEqual(before);
    expect(api.queued).toEqual([]);
  });

  it("is refused before it is taken in if it does not fit the disk", async () => {
    const small = await startHarness({ uploads: new UploadSpace(async () => 1000) });
    try {
      const answer = await small.ask("POST", "/stemcells", archive(Buffer.alloc(2000)));
      expect(answer).toMatchObject({ status: 507, json: { code: 500001 } });
      expect(await readdir(small.uploadsDir)).toEqual([]);
    } finally {
      await small.close();
    }
  });

  it("leaves nothing if its task cannot be started, and the caller learns no secret", async () => {
    const broken = await startHarness({
      tasks: { enqueue: () => Promise.reject(new Error("pw-canary")), cancel: async () => false },
    });
    try {
      const answer = await broken.ask("POST", "/stemcells", archive("bits"));
      expect(answer).toMatchObject({ status: 500, json: { code: 100 } });
      expect(answer.body).not.toMatch(/canary|Error|at /);
      expect(broken.errors).toHaveLength(1);
      expect(await readdir(broken.uploadsDir)).toEqual([]);
    } finally {
      await broken.close();
    }
  });
});

describe("a stemcell at an address", () => {
  const remote = (body: object) =>
    api.ask("POST", "/stemcells?", { type: "application/json", body: JSON.stringify(body) });

  it("starts a task with address and digest", async () => {
    expect((await remote({ location: "https://x/y", sha1: "a".repeat(40) })).status).toBe(302);
    expect((await remote({ location: "https://x/y", sha1: "" })).status).toBe(302);
    expect(api.queued.map(({ params }) => params)).toEqual([
      { location: "https://x/y", sha1: "a".repeat(40), fix: false },
      { location: "https://x/y", fix: false },
    ]);
  });

  it.each([[{}], [{ location: "" }]])("%j is refused", async (body) => {
    expect(await remote(body)).toMatchObject({ status: 400, json: { code: 40005 } });
  });

  it("fails in its task if its digest cannot be read, as upstream's does", async () => {
    expect((await remote({ location: "https://x/y", sha1: "zz" })).status).toBe(302);
  });
});

it("a new certificate is served from when it is given, without a restart", async () => {
  const directory = await temporaryDirectory();
  const own = await startHarness();
  const shown = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port: own.port, rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()?.toString() ?? "");
        socket.destroy();
      });
      socket.on("error", reject);
    });
  try {
    expect(await shown()).toBe(TEST_CERT);
    const authority = await openAuthority({ dir: directory.path, clock: systemClock, random: systemRandom });
    const sans = { dns: ["localhost"], ips: [] };
    const issued = await authority.issue({ commonName: "d", sans, usage: "server", days: 1 });
    own.useCertificate({ cert: issued.certificate, key: issued.privateKey });
    expect(await shown()).toBe(issued.certificate);
  } finally {
    await own.close();
    await directory.remove();
  }
});

it("a stop waits for what is done for a caller who has hung up: what that needs is there until then", async () => {
  const [begun, go] = [latch(), latch()];
  const enqueue = async () => {
    begun.open();
    await go.opened;
    await own.db.selectFrom("tasks").select("id").execute();
    return 1;
  };
  const own = await startHarness({ tasks: { enqueue, cancel: async () => false } }, { closeMs: 60_000 });
  const reach = () => connect({ host: "127.0.0.1", port: own.port, rejectUnauthorized: false });
  const body = JSON.stringify({ location: "https://x/y" });
  const socket = reach();
  socket.write(
    `POST /stemcells HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("admin", "admin-pw")}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await begun.opened;
  socket.destroy();
  await once(socket, "close");
  const closed = own.close();
  const refused = () => once(reach(), "secureConnect").then(() => "", String);
  await expect.poll(refused).toContain("ECONNREFUSED");
  go.open();
  await closed;
  expect(own.errors).toEqual([]);
});

describe("a document that the asker has", () => {
  it("is not sent again, until it is another", async () => {
    const first = await api.get("/tasks");
    const etag = String(first.headers.etag);
    const again = (tags: string) => api.ask("GET", "/tasks", { headers: { "if-none-match": tags } });
    expect(await again(etag)).toMatchObject({ status: 304, body: "", headers: { etag } });
    expect((await again(`"x", W/${etag}`)).status).toBe(304);
    expect(await again('"x"')).toMatchObject({ status: 200, body: first.body });
  });

  it("is not disclosed by its ETag to a caller who may not read it", async () => {
    const etag = String((await api.get("/tasks")).headers.etag);
    const asked = await api.ask("GET", "/tasks", { user: null, headers: { "if-none-match": etag } });
    expect(asked.status).toBe(401);
  });
});
