import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemRandom } from "@slipway/kernel/random";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, expect, it } from "vitest";
import { blobId } from "./blob-id.ts";
import type { Blobs } from "./blobs.ts";
import { directoryBlobs } from "./directory-blobs.ts";
import { keepsTheContractOfBlobs, pieces } from "./testing/contract.ts";

keepsTheContractOfBlobs("a directory", async () => {
  const { path: dir, remove } = await temporaryDirectory();
  return { blobs: directoryBlobs({ dir, random: systemRandom }), remove };
});

let dir: string;
let blobs: Blobs;
beforeEach(async () => {
  const directory = await temporaryDirectory();
  dir = directory.path;
  blobs = directoryBlobs({ dir, random: systemRandom });
  return directory.remove;
});

const names = async () => (await readdir(dir)).sort();

it("leaves no file of a blob whose content breaks off", async () => {
  await expect(blobs.put(pieces("half", new Error("cut off")))).rejects.toThrow("cut off");
  expect(await names()).toEqual([]);
});

it("reports missing disk space, and leaves nothing of the blob", async () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  await expect(blobs.put(pieces("half", full))).rejects.toMatchObject({ code: "DIB-003" });
  expect(await names()).toEqual([]);
});

it("hands out the blob itself as a file, without a copy", async () => {
  const { id } = await blobs.put(pieces("one"), { id: blobId("mine") });
  expect(await blobs.withFile(id, async (path) => path)).toBe(join(dir, "mine"));
});

it("a directory may have other things in it, and what a killed upload left goes with a sweep", async () => {
  const { id } = await blobs.put(pieces("x"));
  await mkdir(join(dir, "unpacked-1"));
  await writeFile(join(dir, ".other.half"), "left");
  expect(await blobs.list()).toEqual([id]);
  expect(await blobs.withFile(blobId("unpacked-1"), async (path) => path)).toBeUndefined();
  await blobs.sweep();
  expect(await names()).toEqual([id, "unpacked-1"].sort());
});
