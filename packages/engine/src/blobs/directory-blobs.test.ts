import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { systemRandom } from "@slipway/kernel/random";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it } from "vitest";
import { blobId } from "./blob-id.ts";
import type { BlobId } from "./blobs.ts";
import { directoryBlobs, type FileBlobs } from "./directory-blobs.ts";

let dir: string;
let blobs: FileBlobs;
beforeEach(async () => {
  const directory = await temporaryDirectory();
  dir = directory.path;
  blobs = directoryBlobs({ dir, random: systemRandom });
  return directory.remove;
});

async function* pieces(...all: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const one of all) {
    if (one instanceof Error) throw one;
    yield Buffer.from(one);
  }
}
const names = async () => (await readdir(dir)).sort();

describe("a blob", () => {
  it("is kept whole, private, with its size and digest, until it is removed", async () => {
    const { id, size, digest } = await blobs.put(pieces("one ", "two"));
    const sha256 = createHash("sha256").update("one two").digest("hex");
    expect([size, digest]).toEqual([7, `sha256:${sha256}`]);
    expect((await stat(blobs.pathOf(id))).mode & 0o777).toBe(0o600);
    const got = await blobs.get(id);
    expect([got?.size, got && (await text(got.content))]).toEqual([7, "one two"]);
    expect([await blobs.has(id), await blobs.list()]).toEqual([true, [id]]);
    await blobs.remove(id);
    await blobs.remove(id);
    expect([await blobs.has(id), await blobs.get(id), await names()]).toEqual([false, undefined, []]);
  });

  it("stores an empty blob", async () => {
    const { id, size } = await blobs.put(pieces());
    const got = await blobs.get(id);
    expect([size, got && (await text(got.content))]).toEqual([0, ""]);
  });

  it("leaves nothing of a blob whose content breaks off", async () => {
    await expect(blobs.put(pieces("half", new Error("cut off")))).rejects.toThrow("cut off");
    expect(await names()).toEqual([]);
  });

  it("reports missing disk space, and leaves nothing of the blob", async () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    await expect(blobs.put(pieces("half", full))).rejects.toMatchObject({ code: "DIB-003" });
    expect(await names()).toEqual([]);
  });

  it("is refused by who watches its size, before more of it is kept", async () => {
    const before = (size: number) => {
      if (size > 5) throw new Error("too large");
    };
    await expect(blobs.put(pieces("1234", "56"), { before })).rejects.toThrow("too large");
    expect(await names()).toEqual([]);
  });

  it("does not show a blob before it is complete", async () => {
    const id = blobId("mine");
    let seen: unknown;
    async function* watched() {
      yield Buffer.from("half");
      seen = [await blobs.has(id), await blobs.get(id), await blobs.list()];
      yield Buffer.from("whole");
    }
    await blobs.put(watched(), { id });
    expect(seen).toEqual([false, undefined, []]);
    expect(await readFile(blobs.pathOf(id), "utf8")).toBe("halfwhole");
  });

  it("is never replaced, not even by two at once", async () => {
    const id = blobId("mine");
    const both = await Promise.allSettled([
      blobs.put(pieces("one"), { id }),
      blobs.put(pieces("two"), { id }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const kept = await readFile(blobs.pathOf(id), "utf8");
    await expect(blobs.put(pieces("three"), { id })).rejects.toMatchObject({ code: "DIB-002" });
    expect(await readFile(blobs.pathOf(id), "utf8")).toBe(kept);
  });
});

it.each(["", ".", "..", "a/b", "../a", "/etc/passwd", ".hidden", "a\0b", "a b", "x".repeat(201)])(
  "%j is no id",
  async (given) => {
    expect(() => blobId(given)).toThrow(expect.objectContaining({ code: "DIB-001" }));
    const id = given as BlobId;
    for (const use of [
      () => blobs.get(id),
      () => blobs.has(id),
      () => blobs.remove(id),
      () => blobs.put(pieces("x"), { id }),
    ])
      await expect(use()).rejects.toMatchObject({ code: "DIB-001" });
  },
);

it("a directory may have other things in it, and what a killed upload left goes with a sweep", async () => {
  const { id } = await blobs.put(pieces("x"));
  await mkdir(join(dir, "unpacked-1"));
  await writeFile(join(dir, ".other.half"), "left");
  expect(await blobs.list()).toEqual([id]);
  await blobs.sweep();
  expect(await names()).toEqual([id, "unpacked-1"].sort());
});
