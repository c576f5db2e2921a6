import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { systemRandom } from "@slipway/kernel/random";
import { beforeEach, describe, expect, it } from "vitest";
import { blobId } from "../blob-id.ts";
import type { BlobId, Blobs } from "../blobs.ts";

/** Content that comes in pieces, or breaks off with an error. */
export async function* pieces(...all: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const one of all) {
    if (one instanceof Error) throw one;
    yield Buffer.from(one);
  }
}

/** Defines the tests that every store of blobs passes. `open` returns an empty store and a function that removes it. */
export function keepsTheContractOfBlobs(
  name: string,
  open: () => Promise<{ readonly blobs: Blobs; readonly remove: () => Promise<void> }>,
): void {
  describe(`blobs of ${name}`, () => {
    let blobs: Blobs;
    beforeEach(async () => {
      const opened = await open();
      blobs = opened.blobs;
      return opened.remove;
    });
    const contentOf = async (id: BlobId) => {
      const blob = await blobs.get(id);
      if (blob === undefined) return undefined;
      const content = await text(blob.content);
      expect(Buffer.byteLength(content)).toBe(blob.size);
      return content;
    };

    it("are kept whole, with size and digest, until they are removed", async () => {
      const { id, size, digest } = await blobs.put(pieces("one ", "two"));
      const sha256 = createHash("sha256").update("one two").digest("hex");
      expect([size, digest]).toEqual([7, `sha256:${sha256}`]);
      expect([(await blobs.stat(id))?.size, await contentOf(id)]).toEqual([7, "one two"]);
      expect([await blobs.has(id), await blobs.list()]).toEqual([true, [id]]);
      await blobs.remove(id);
      await blobs.remove(id);
      expect([await blobs.has(id), await blobs.get(id), await blobs.list()]).toEqual([false, undefined, []]);
    });

    it("may be empty", async () => {
      const { id, size } = await blobs.put(pieces());
      expect([size, await contentOf(id)]).toEqual([0, ""]);
      expect(await blobs.withFile(id, (path) => readFile(path, "utf8"))).toBe("");
    });

    it("leave nothing of a content that breaks off", async () => {
      await expect(blobs.put(pieces("half", new Error("cut off")))).rejects.toThrow("cut off");
      expect(await blobs.list()).toEqual([]);
    });

    it("can be refused by their size while they come", async () => {
      const before = (size: number) => {
        if (size > 5) throw new Error("too large");
      };
      await expect(blobs.put(pieces("1234", "56"), { before })).rejects.toThrow("too large");
      expect(await blobs.list()).toEqual([]);
    });

    it("are not seen before they are complete", async () => {
      const id = blobId("mine");
      let seen: unknown;
      async function* watched() {
        yield Buffer.from("half");
        const file = await blobs.withFile(id, async () => "a file");
        seen = [await blobs.has(id), await blobs.get(id), await blobs.stat(id), file, await blobs.list()];
        yield Buffer.from("whole");
      }
      await blobs.put(watched(), { id });
      expect(seen).toEqual([false, undefined, undefined, undefined, []]);
      expect(await contentOf(id)).toBe("halfwhole");
    });

    it("are never replaced, not even by two that come at once", async () => {
      const id = blobId("mine");
      const both = await Promise.allSettled([
        blobs.put(pieces("one"), { id }),
        blobs.put(pieces("two"), { id }),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const kept = await contentOf(id);
      await expect(blobs.put(pieces("three"), { id })).rejects.toMatchObject({ code: "DIB-002" });
      expect(await contentOf(id)).toBe(kept);
    });

    it("are listed in order", async () => {
      for (const id of ["b", "a", "c"]) await blobs.put(pieces(id), { id: blobId(id) });
      expect(await blobs.list()).toEqual(["a", "b", "c"]);
    });

    it("have a size and the time of their upload", async () => {
      const earlier = Date.now();
      const { id } = await blobs.put(pieces("one"));
      const found = await blobs.stat(id);
      expect(found?.size).toBe(3);
      // Times of files are as coarse as the kernel's tick.
      expect(found?.storedAt).toBeGreaterThan(earlier - 1_000);
      expect(found?.storedAt).toBeLessThan(Date.now() + 1_000);
    });

    it("are a private file while one is needed, and still there afterwards", async () => {
      const { id } = await blobs.put(pieces("one ", "two"));
      const read = await blobs.withFile(id, async (path) => [
        await readFile(path, "utf8"),
        (await stat(path)).mode & 0o777,
      ]);
      expect(read).toEqual(["one two", 0o600]);
      await expect(blobs.withFile(id, () => Promise.reject(new Error("not today")))).rejects.toThrow(
        "not today",
      );
      expect(await contentOf(id)).toBe("one two");
    });

    it("are files of several readers at once", async () => {
      const { id } = await blobs.put(pieces("one"));
      const reads = [1, 2, 3].map(() => blobs.withFile(id, (path) => readFile(path, "utf8")));
      expect(await Promise.all(reads)).toEqual(["one", "one", "one"]);
    });

    it("give no file and run no work for an id that does not exist", async () => {
      let ran = false;
      const work = async () => {
        ran = true;
      };
      expect(await blobs.withFile(blobId(systemRandom.uuid()), work)).toBeUndefined();
      expect(ran).toBe(false);
    });

    it("survive a sweep", async () => {
      const { id } = await blobs.put(pieces("one"));
      await blobs.sweep();
      expect(await contentOf(id)).toBe("one");
    });

    it.each(["", ".", "..", "a/b", "../a", "/etc/passwd", ".hidden", "a\0b", "a b", "x".repeat(201)])(
      "refuse %j as an id",
      async (given) => {
        const id = given as BlobId;
        for (const use of [
          () => blobs.get(id),
          () => blobs.has(id),
          () => blobs.stat(id),
          () => blobs.withFile(id, async () => "a file"),
          () => blobs.remove(id),
          () => blobs.put(pieces("x"), { id }),
        ])
          await expect(use()).rejects.toMatchObject({ code: "DIB-001" });
      },
    );
  });
}
