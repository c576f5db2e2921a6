import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { blobId } from "@slipway/engine/blobs/blob-id";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { systemRandom } from "@slipway/kernel/random";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { expect, it, onTestFinished } from "vitest";
import { expireLogs, newLogs, newPart } from "./log-blobs.ts";

const NOW = Date.parse("2026-01-31T12:00:00Z");
const HOUR_MS = 3_600_000;

async function store() {
  const { path: dir, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const blobs = directoryBlobs({ dir, random: systemRandom });
  const put = async (id: ReturnType<typeof newLogs>, hoursAgo: number) => {
    await blobs.put(Readable.from([Buffer.from("x")]), { id });
    const at = (NOW - hoursAgo * HOUR_MS) / 1000;
    await utimes(join(dir, id), at, at);
    return id;
  };
  return { blobs, put };
}

it("logs go after ten days; what is not logs stays", async () => {
  const { blobs, put } = await store();
  const release = await put(blobId("release"), 24 * 365);
  const fresh = await put(newLogs(systemRandom), 239);
  await put(newLogs(systemRandom), 241);
  await put(newPart(systemRandom), 241);
  await expireLogs(blobs, 10, NOW);
  expect(await blobs.list()).toEqual([fresh, release].sort());
});

it("keeps the newest of very many logs, and those that are being packed", async () => {
  const { blobs, put } = await store();
  const part = await put(newPart(systemRandom), 200);
  const kept = [part];
  for (let hour = 0; hour < 105; hour++) {
    const id = await put(newLogs(systemRandom), hour);
    if (hour < 100) kept.push(id);
  }
  await expireLogs(blobs, 10, NOW);
  expect(await blobs.list()).toEqual(kept.sort());
});
