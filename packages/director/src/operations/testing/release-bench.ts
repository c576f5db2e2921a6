import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { configuredClouds } from "@slipway/engine/clouds/testing/configured";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { TaskType } from "@slipway/protocol/director/task";
import { freshDatabase } from "@slipway/testkit/database";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { expect } from "vitest";
import { documentsHere } from "../../documents/documents.ts";
import { loadReleases } from "../../store/releases.ts";
import { readOutput } from "../../tasks/output.ts";
import { TaskRunner } from "../../tasks/runner.ts";
import type { OperationTools } from "../operation.ts";
import { operations } from "../operations.ts";

export const JOB = { spec: { packages: ["web"] }, monit: "", templates: {} };

/** A release with one job and two packages. */
export const demo = (more: Partial<MadeRelease> = {}): MadeRelease => ({
  name: "demo",
  version: "1",
  jobs: { web: JOB },
  packages: {
    golang: { files: { packaging: "true" } },
    web: { dependencies: ["golang"], files: { packaging: "echo web" } },
  },
  ...more,
});

export type ReleaseBench = Awaited<ReturnType<typeof openReleaseBench>>;

/** A database, blobs and tasks for releases. */
export async function openReleaseBench() {
  const { db, close: closeDatabase } = await freshDatabase();
  const { path: root, remove } = await temporaryDirectory();
  const uploadsDir = join(root, "uploads");
  await mkdir(uploadsDir);
  await mkdir(join(root, "blobs"));
  const blobs = directoryBlobs({ dir: join(root, "blobs"), random: systemRandom });
  // It calls neither CPIs nor agents, and renders nothing.
  const renderer = { open: () => ({ close: () => undefined }) };
  const outside = { clouds: configuredClouds(), agents: {}, renderer, settings: { directorName: "d" } };
  const tools = { db, blobs, uploadsDir, documents: documentsHere, clock: systemClock, random: systemRandom };
  const runner = new TaskRunner({
    db,
    works: operations({ ...tools, ...outside } as unknown as OperationTools),
    clock: systemClock,
    random: systemRandom,
    alone: true,
    onError: () => undefined,
  });
  runner.start();
  const close = async () => {
    await runner.stop();
    await closeDatabase();
    await remove();
  };

  const run = async (type: TaskType, params: object) => {
    const id = await runner.enqueue({ type, description: type, user: "admin", params: { ...params } });
    const row = () =>
      db.selectFrom("tasks").select(["state", "result"]).where("id", "=", id).executeTakeFirstOrThrow();
    await expect.poll(async () => (await row()).state).toMatch(/done|error|cancelled/);
    return { id, ...(await row()) };
  };
  let uploads = 0;
  const upload = async (
    release: MadeRelease | Buffer,
    options: { readonly fix?: boolean; readonly rebase?: boolean } = {},
  ) => {
    const path = join(uploadsDir, `release-${uploads++}.tgz`);
    await writeFile(path, Buffer.isBuffer(release) ? release : await releaseTarball(release));
    return await run("update_release", { path, fix: false, rebase: false, ...options });
  };
  const only = async (version = "1", name = "demo") => {
    const [release] = await loadReleases(db, [{ name, version }]);
    if (release === undefined) throw new Error(`no ${name}/${version}`);
    return release;
  };
  /** Waits until unneeded blobs are swept away after the task. */
  const blobsAre = (count: number) => expect.poll(async () => (await blobs.list()).length).toBe(count);
  const stages = async (id: number): Promise<string[]> => {
    const { data } = await readOutput(db, id, "event");
    return data
      .toString()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { stage?: string; task?: string; state?: string })
      .filter(({ state }) => state === "started")
      .map(({ stage, task }) => `${stage}: ${task}`);
  };
  return { db, blobs, uploadsDir, run, upload, only, blobsAre, stages, close };
}
