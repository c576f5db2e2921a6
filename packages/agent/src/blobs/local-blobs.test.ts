import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BlobstoreSettings } from "../settings/effective.ts";
import { NEVER, programs, tools } from "../settings/testing/settings-lab.ts";
import { BadBlobId, BlobDamaged, BlobMissing, BlobstoreFailed } from "./errors.ts";
import { localBlobs } from "./local-blobs.ts";

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
const blobsHere = async (settings?: BlobstoreSettings, exec = programs({})) => {
  const t = { ...(await tools()), exec: exec.exec, settings: () => settings };
  return { t, blobs: localBlobs(t), calls: exec.calls };
};

describe("uploaded blobs", () => {
  it("are kept with upstream's modes and given back; sensitive ones are looked for first", async () => {
    const { t, blobs } = await blobsHere();
    await blobs.write("blobs", "b-1", Buffer.from("one"));
    expect((await stat(join(t.paths.blobs, "b-1"))).mode & 0o777).toBe(0o640);
    expect(await blobs.fetch("b-1", sha1("one"), NEVER)).toBe(join(t.paths.blobs, "b-1"));
    await blobs.write("sensitive", "b-1", Buffer.from("two"));
    expect((await stat(join(t.paths.sensitiveBlobs, "b-1"))).mode & 0o777).toBe(0o600);
    expect(String(await blobs.read("b-1"))).toBe("two");
    expect(await blobs.read("b-2")).toBeUndefined();
  });

  it("are rejected if they are missing or do not match their digest", async () => {
    const { blobs } = await blobsHere();
    await blobs.write("blobs", "b-1", Buffer.from("one"));
    await expect(blobs.fetch("b-1", sha1("two"), NEVER)).rejects.toSatisfy(BlobDamaged.is);
    await expect(blobs.fetch("b-2", sha1("two"), NEVER)).rejects.toSatisfy(BlobMissing.is);
  });

  it.each(["", ".", "..", ".hidden", "a/b", "../x", "a\0b", "x".repeat(256)])(
    "are never named %j",
    async (id) => {
      const { t, blobs } = await blobsHere();
      await expect(blobs.write("blobs", id, Buffer.from("x"))).rejects.toSatisfy(BadBlobId.is);
      await expect(blobs.read(id)).rejects.toSatisfy(BadBlobId.is);
      await expect(blobs.fetch(id, sha1("x"), NEVER)).rejects.toSatisfy(BadBlobId.is);
      expect(await readdir(t.paths.base)).toEqual(["bosh"]);
    },
  );
});

describe("a local blobstore", () => {
  it("is data/blobs for create-env, whatever the manifest calls it", async () => {
    const options = { blobstore_path: "/var/vcap/micro_bosh/data/cache" };
    const { t, blobs } = await blobsHere({ provider: "local", options });
    await writeFile(join(t.dir, "file"), "content");
    const { blobId, digest } = await blobs.store(join(t.dir, "file"), NEVER);
    expect(digest).toBe(sha1("content"));
    expect(blobId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await readdir(t.paths.blobs)).toEqual([blobId]);
    expect(await readFile(await blobs.fetch(blobId, digest, NEVER), "utf8")).toBe("content");
  });

  it("is searched after the uploaded blobs if it is elsewhere", async () => {
    const { dir } = await tools();
    await mkdir(join(dir, "store"));
    await writeFile(join(dir, "store", "b-1"), "there");
    const { blobs } = await blobsHere({ provider: "local", options: { blobstore_path: join(dir, "store") } });
    expect(await blobs.fetch("b-1", sha1("there"), NEVER)).toBe(join(dir, "store", "b-1"));
  });
});

describe("a blobstore that a program talks to", () => {
  const remote = async (dir: string, failures: number) => {
    let left = failures;
    await mkdir(dir, { recursive: true });
    return programs({
      "bosh-blobstore-gcs": async ([, config = "", verb, from = "", to = ""]) => {
        expect(JSON.parse(await readFile(config, "utf8"))).toEqual({ password: "canary" });
        expect((await stat(config)).mode & 0o777).toBe(0o600);
        if (left-- > 0) return { code: 1, stderr: "canary" };
        if (verb === "put") await copyFile(from, join(dir, to));
        else await copyFile(join(dir, from), to);
        return {};
      },
    });
  };
  const gcs = { provider: "gcs", options: { password: "canary" } };

  it("gets and puts through it, again after a failure, with its options in a file and not in the arguments", async () => {
    const { dir } = await tools();
    const { t, blobs, calls } = await blobsHere(gcs, await remote(join(dir, "remote"), 2));
    await writeFile(join(t.dir, "file"), "content");
    const { blobId, digest } = await blobs.store(join(t.dir, "file"), NEVER);
    expect(await readFile(await blobs.fetch(blobId, digest, NEVER), "utf8")).toBe("content");
    expect(calls).toHaveLength(4);
    expect(JSON.stringify(calls)).not.toContain("canary");
  });

  it("fails after three attempts, without repeating what the program printed", async () => {
    const { dir } = await tools();
    const { blobs, calls, t } = await blobsHere(gcs, await remote(join(dir, "remote"), 9));
    const failure = await blobs.fetch("b-1", sha1("x"), NEVER).catch((error: unknown) => error);
    expect(BlobstoreFailed.is(failure)).toBe(true);
    expect(String(failure)).not.toContain("canary");
    expect(calls).toHaveLength(3);
    expect(await readdir(t.paths.dataTmp)).toEqual([]);
  });

  it("is never a program of another name", async () => {
    const { blobs, calls } = await blobsHere({ provider: "../../bin/sh", options: {} });
    await expect(blobs.fetch("b-1", sha1("x"), NEVER)).rejects.toSatisfy(BlobstoreFailed.is);
    expect(calls).toEqual([]);
  });
});
