import { mkdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Blobs } from "@slipway/engine/blobs/blobs";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { systemRandom } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { freshDatabase } from "@slipway/testkit/database";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, expect, it } from "vitest";
import { exportedBlobId } from "../artifacts/exported.ts";
import { newLogs } from "../operations/log-blobs.ts";
import { releaseBlobId } from "../operations/releases/blobs.ts";
import { enqueue } from "../tasks/queue.ts";
import { bytesOfMib, retain } from "./background-jobs.ts";

const NOW = Date.parse("2026-11-17T12:00:00Z");
let database: Awaited<ReturnType<typeof freshDatabase>>;
let directory: string;
let blobs: Blobs;
beforeAll(async () => {
  database = await freshDatabase();
  directory = await passableDirectory("retention");
  const dir = join(directory, "blobs");
  await mkdir(dir);
  blobs = directoryBlobs({ dir, random: systemRandom });
});
afterAll(async () => {
  await database.close();
  await rm(directory, { recursive: true, force: true });
});

const limited = (limits: NonNullable<DirectorConfig["director"]>) =>
  retain({ db: database.db, blobs, limits, now: NOW });

it("deletes blobs that are no longer needed by their age, and no other", async () => {
  const { db } = database;
  const running = await enqueue(db, { type: "export_release", description: "", user: "a", params: {} });
  const old = [
    newLogs(systemRandom),
    exportedBlobId(9999, systemRandom),
    exportedBlobId(running, systemRandom),
    releaseBlobId(9999, systemRandom),
  ];
  for (const id of old) {
    await blobs.put((async function* () {})(), { id });
    await utimes(join(directory, "blobs", id), NOW / 1000 - 9 * 86_400, NOW / 1000 - 9 * 86_400);
  }
  const [logs = "", exported = "", making = "", release = ""] = old;
  await limited({});
  expect([...(await blobs.list())]).toEqual([...old].sort());
  await limited({ log_days: 8, exported_release_days: 10 });
  expect(await blobs.list()).not.toContain(logs);
  expect(await blobs.list()).toContain(exported);
  await limited({ exported_release_days: 8 });
  expect([...(await blobs.list())]).toEqual([making, release].sort());
});

it("reads the limits of tasks and events from the configuration", async () => {
  const { db } = database;
  const ended = async (deployment: string, days: number) => {
    const id = await enqueue(db, { type: "vms", description: "", user: "a", deployment, params: {} });
    const finished = { state: "done", finished_at: new Date(NOW - days * 86_400_000) } as const;
    await db.updateTable("tasks").set(finished).where("id", "=", id).execute();
    return id;
  };
  const ids = [
    await ended("shop", 9),
    await ended("shop", 3),
    await ended("blog", 3),
    await ended("blog", 1),
  ];
  const left = async () =>
    (await db.selectFrom("tasks").select("id").where("type", "=", "vms").orderBy("id").execute()).map(
      ({ id }) => ids.indexOf(id),
    );
  await limited({});
  expect(await left()).toEqual([0, 1, 2, 3]);
  await limited({ tasks_retention_period: 5 });
  expect(await left()).toEqual([1, 2, 3]);
  await limited({
    tasks_deployments_retention_period: [{ deployment_name: "blog", retention_period: 2 }],
  });
  expect(await left()).toEqual([1, 3]);
  await limited({ keep_tasks: 1 });
  expect(await left()).toEqual([3]);
  expect([bytesOfMib(undefined), bytesOfMib(2)]).toEqual([undefined, 2_097_152]);
});
