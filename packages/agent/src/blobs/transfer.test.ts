import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { EMPTY_SHA256, signedHeaders } from "@slipway/kernel/sigv4";
import { AGENT_SERVER, CA } from "@slipway/testkit/certificates";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import type { BlobSource } from "../services.ts";
import type { BlobstoreSettings } from "../settings/effective.ts";
import { NEVER, tools } from "../settings/testing/settings-lab.ts";
import { BlobstoreFailed, DownloadFailed, UploadFailed } from "./errors.ts";
import { localBlobs } from "./local-blobs.ts";
import { upload } from "./signed-url.ts";
import { blobServer } from "./testing/blob-server.ts";

const hex = (algorithm: string, content: Uint8Array) => createHash(algorithm).update(content).digest("hex");
const CONTENT = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251));
const SHA1 = hex("sha1", CONTENT);

/** Makes the pauses between retries instant. Everything that a socket needs takes real time. */
function hurried() {
  const hurry = fakeClock({ hurry: true });
  return { ...systemClock, sleep: hurry.sleep, slept: hurry.slept };
}

async function here(settings?: BlobstoreSettings) {
  const clock = hurried();
  const t = { ...(await tools()), clock, exec: systemExec, settings: () => settings };
  return { t, clock, blobs: localBlobs(t) };
}

const used = async (blobs: ReturnType<typeof localBlobs>, source: BlobSource, signal = NEVER) =>
  await blobs.use(source, signal, (path) => readFile(path));

describe("a blob behind a signed URL", () => {
  it.each([
    SHA1,
    `sha1:${SHA1}`,
    `sha256:${hex("sha256", CONTENT)}`,
    `sha512:${hex("sha512", CONTENT)}`,
    `${"0".repeat(40)};sha256:${hex("sha256", CONTENT)}`,
    `${SHA1};sha999:abc`,
  ])("is fetched with its headers, compared by %s and gone after use", async (digest) => {
    const { t, blobs } = await here();
    const server = await blobServer();
    server.blobs.set("/b?signature=canary", CONTENT);
    const source = {
      blobId: "",
      digest,
      signedUrl: `${server.url}/b?signature=canary`,
      headers: { "x-enc": "k" },
    };
    expect((await used(blobs, source)).equals(CONTENT)).toBe(true);
    expect(server.asked[0]?.headers["x-enc"]).toBe("k");
    expect(await readdir(t.paths.dataTmp)).toEqual([]);
  });

  it("goes on where the connection broke, and has every byte once", async () => {
    const { t, blobs, clock } = await here();
    const server = await blobServer();
    server.blobs.set("/b", CONTENT);
    const sizeNow = async () => {
      const [name = ""] = await readdir(t.paths.dataTmp);
      return (await stat(join(t.paths.dataTmp, name))).size;
    };
    const has = (size: number) => () => expect.poll(sizeNow, { timeout: 20_000 }).toBe(size);
    server.troubles.push(
      { breakAfter: 100_000, arrived: has(100_000) },
      { breakAfter: 50_000, arrived: has(150_000) },
    );
    expect(
      (await used(blobs, { blobId: "", digest: SHA1, signedUrl: `${server.url}/b` })).equals(CONTENT),
    ).toBe(true);
    expect(server.asked.map(({ headers }) => headers.range)).toEqual([
      undefined,
      "bytes=100000-",
      "bytes=150000-",
    ]);
    expect(clock.slept.every((ms) => ms >= 2500 && ms <= 5000)).toBe(true);
  });

  it("starts over if the server does not support ranges", async () => {
    const { blobs } = await here();
    const server = await blobServer({ ranges: false });
    server.blobs.set("/b", CONTENT);
    server.troubles.push({ breakAfter: 100_000 });
    expect(
      (await used(blobs, { blobId: "", digest: SHA1, signedUrl: `${server.url}/b` })).equals(CONTENT),
    ).toBe(true);
    expect(server.asked.map(({ headers }) => headers.range)).toEqual([undefined, undefined]);
  });

  it("is fetched again as a whole after it was damaged in transit", async () => {
    const { blobs } = await here();
    const server = await blobServer();
    server.blobs.set("/b", CONTENT);
    server.troubles.push("flip", 503);
    expect(
      (await used(blobs, { blobId: "", digest: SHA1, signedUrl: `${server.url}/b` })).equals(CONTENT),
    ).toBe(true);
    expect(server.asked).toHaveLength(3);
  });

  it("is given up after three wrong contents, leaves no file, and its URL is in no error", async () => {
    const { t, blobs } = await here();
    const server = await blobServer();
    server.blobs.set("/b?signature=canary", Buffer.from("another"));
    const failure = await used(blobs, {
      blobId: "",
      digest: SHA1,
      signedUrl: `${server.url}/b?signature=canary`,
    }).catch((error: unknown) => error);
    expect(DownloadFailed.is(failure)).toBe(true);
    expect(String(failure)).toContain(`Expected stream to have digest '${SHA1}' but was`);
    expect(String(failure)).not.toContain("canary");
    expect(server.asked).toHaveLength(3);
    expect(await readdir(t.paths.dataTmp)).toEqual([]);
  });

  it("fails after three tries while the server is down, and works when it is back", async () => {
    const { blobs } = await here();
    const source = { blobId: "", digest: SHA1, signedUrl: "http://127.0.0.1:1/b" };
    await expect(used(blobs, source)).rejects.toSatisfy(DownloadFailed.is);
    const server = await blobServer();
    server.blobs.set("/b", CONTENT);
    await used(blobs, { ...source, signedUrl: `${server.url}/b` });
  });
});

describe("an upload to a signed URL", () => {
  it("has a length, upstream's headers and those given, and answers both digests", async () => {
    const { t, clock } = await here();
    const server = await blobServer();
    await writeFile(join(t.dir, "file"), CONTENT);
    const digest = await upload(join(t.dir, "file"), `${server.url}/up?s=1`, { "x-enc": "k" }, { clock });
    expect(digest).toBe(`${SHA1};sha512:${hex("sha512", CONTENT)}`);
    expect(server.asked[0]).toMatchObject({
      method: "PUT",
      path: "/up?s=1",
      headers: { "content-length": "300000", accept: "*/*", expect: "100-continue", "x-enc": "k" },
    });
    expect(server.blobs.get("/up?s=1")?.equals(CONTENT)).toBe(true);
  });

  it("is not tried again: the URL may be good for once", async () => {
    const { t, clock } = await here();
    const server = await blobServer();
    await writeFile(join(t.dir, "file"), CONTENT);
    server.troubles.push(500);
    const failure = await upload(join(t.dir, "file"), `${server.url}/up?s=canary`, {}, { clock }).catch(
      (e: unknown) => e,
    );
    expect(UploadFailed.is(failure)).toBe(true);
    expect(String(failure)).not.toContain("canary");
    expect(server.asked).toHaveLength(1);
  });
});

describe("a DAV blobstore", () => {
  it("is asked where upstream's program asks, as the user in its options", async () => {
    const server = await blobServer({
      allow: ({ headers }) => headers.authorization === `Basic ${Buffer.from("u:canary").toString("base64")}`,
    });
    const options = { endpoint: `${server.url}/base/`, user: "u", password: "canary" };
    const { t, blobs } = await here({ provider: "dav", options });
    await writeFile(join(t.dir, "file"), CONTENT);
    server.troubles.push(500);
    const { blobId, digest } = await blobs.store(join(t.dir, "file"), NEVER);
    const prefix = hex("sha1", Buffer.from(blobId)).slice(0, 2);
    expect([...server.blobs.keys()]).toEqual([`/base/${prefix}/${blobId}`]);
    server.troubles.push({ breakAfter: 1000 });
    expect((await used(blobs, { blobId, digest })).equals(CONTENT)).toBe(true);
    // An uploaded one comes first, unless it is damaged.
    await blobs.write("blobs", blobId, Buffer.from("damaged"));
    expect((await used(blobs, { blobId, digest })).equals(CONTENT)).toBe(true);
  });

  it("behind TLS is believed by the authority in its options, and by no other", async () => {
    const tls = { cert: AGENT_SERVER.certificate, key: AGENT_SERVER.privateKey };
    const server = await blobServer({ tls });
    const options = { endpoint: server.url, tls: { cert: { ca: CA } } };
    const { t, blobs } = await here({ provider: "dav", options });
    await writeFile(join(t.dir, "file"), CONTENT);
    const { blobId, digest } = await blobs.store(join(t.dir, "file"), NEVER);
    expect((await used(blobs, { blobId, digest })).equals(CONTENT)).toBe(true);
    const stranger = await here({ provider: "dav", options: { endpoint: server.url } });
    await expect(used(stranger.blobs, { blobId, digest })).rejects.toSatisfy(DownloadFailed.is);
  });

  it("reports invalid options", async () => {
    const { blobs } = await here({ provider: "dav", options: {} });
    await expect(used(blobs, { blobId: "b", digest: SHA1 })).rejects.toSatisfy(BlobstoreFailed.is);
  });
});

describe("an S3 blobstore", () => {
  const key = { access_key_id: "AKIDEXAMPLE", secret_access_key: "canary-secret" };

  it("is asked with a valid signature if upstream's program is missing", async () => {
    const server = await blobServer({
      allow: ({ method, path, headers, body }) => {
        const time = String(headers["x-amz-date"]);
        const now = Date.parse(
          time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
        );
        const wanted = signedHeaders(
          { method, url: new URL(path, `http://${headers.host}`), payloadSha256: hex("sha256", body), now },
          { accessKeyId: key.access_key_id, secretAccessKey: key.secret_access_key, region: "us-east-1" },
        );
        return headers.authorization === wanted.authorization;
      },
    });
    const { hostname, port } = new URL(server.url);
    const options = {
      ...key,
      bucket_name: "bucket",
      folder_name: "f",
      host: hostname,
      port: Number(port),
      use_ssl: false,
    };
    const { t, blobs } = await here({ provider: "s3", options });
    await writeFile(join(t.dir, "file"), CONTENT);
    const { blobId, digest } = await blobs.store(join(t.dir, "file"), NEVER);
    expect([...server.blobs.keys()]).toEqual([`/bucket/f/${blobId}`]);
    server.troubles.push({ breakAfter: 1000 });
    expect((await used(blobs, { blobId, digest })).equals(CONTENT)).toBe(true);
    const other = await here({ provider: "s3", options: { ...options, secret_access_key: "wrong" } });
    await expect(used(other.blobs, { blobId, digest })).rejects.toSatisfy(DownloadFailed.is);
  });

  it("signs as AWS documents it", () => {
    // "GET Object" of the documentation of Signature Version 4 for S3.
    const { authorization } = signedHeaders(
      {
        method: "GET",
        url: new URL("https://examplebucket.s3.amazonaws.com/test.txt"),
        payloadSha256: EMPTY_SHA256,
        now: Date.UTC(2013, 4, 24),
        headers: { range: "bytes=0-9" },
      },
      {
        accessKeyId: "AKIAIOSFODNN7EXAMPLE",
        secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        region: "us-east-1",
      },
    );
    expect(authorization).toContain(
      "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
  });

  it("goes through the stemcell's program where there is one", async () => {
    const { t, blobs } = await here({ provider: "s3", options: { bucket_name: "b", ...key } });
    await mkdir(join(t.paths.boshDir, "bin"), { recursive: true });
    const program = join(t.paths.boshDir, "bin", "bosh-blobstore-s3");
    await writeFile(
      program,
      `#!/bin/sh\n[ "$3" = put ] && cp "$4" '${t.dir}/remote' || cp '${t.dir}/remote' "$5"\n`,
    );
    await chmod(program, 0o755);
    await writeFile(join(t.dir, "file"), CONTENT);
    const { blobId, digest } = await blobs.store(join(t.dir, "file"), NEVER);
    expect((await used(blobs, { blobId, digest })).equals(CONTENT)).toBe(true);
    await writeFile(join(t.dir, "remote"), "damaged at rest");
    await expect(used(blobs, { blobId, digest })).rejects.toThrow("is not what was announced");
    expect(await readdir(t.paths.dataTmp)).toEqual([]);
  });
});
