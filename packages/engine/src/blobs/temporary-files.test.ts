import { readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exists } from "@slipway/kernel/files";
import { systemRandom } from "@slipway/kernel/random";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, expect, it } from "vitest";
import type { Blobs } from "./blobs.ts";
import { keepsTheContractOfBlobs, pieces } from "./testing/contract.ts";
import { memoryBlobs } from "./testing/memory-blobs.ts";

const opened = async () => {
  const directory = await temporaryDirectory();
  const dir = join(directory.path, "files");
  return { dir, blobs: memoryBlobs({ dir, random: systemRandom }), remove: directory.remove };
};
keepsTheContractOfBlobs("memory", opened);

let dir: string;
let blobs: Blobs;
beforeEach(async () => {
  const one = await opened();
  ({ dir, blobs } = one);
  return one.remove;
});

it("removes the file when the work is done, also when it fails", async () => {
  const { id } = await blobs.put(pieces("one"));
  const path = await blobs.withFile(id, async (file) => file);
  expect([dirname(path ?? ""), await readdir(dir)]).toEqual([dir, []]);
  await expect(blobs.withFile(id, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await readdir(dir)).toEqual([]);
});

it("removes with a sweep what a killed process has left", async () => {
  const { id } = await blobs.put(pieces("one"));
  await blobs.withFile(id, () => writeFile(join(dir, "left"), "of a killed process"));
  expect(await readdir(dir)).toEqual(["left"]);
  await blobs.sweep();
  expect(await exists(join(dir, "left"))).toBe(false);
  expect(await blobs.withFile(id, async () => "again")).toBe("again");
});
