import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { openRelease } from "@slipway/engine/releases/archive";
import { dependenciesFirst } from "@slipway/engine/releases/package-order";
import { rebased } from "@slipway/engine/releases/plan-upload";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { downloadArchive } from "@slipway/engine/stemcells/download";
import { updateReleaseParams } from "@slipway/protocol/director/task-params";
import { BlobWithoutOwner } from "../store/errors.ts";
import { createdBy } from "../store/events.ts";
import { versionsOf } from "../store/releases.ts";
import type { TaskContext } from "../tasks/task.ts";
import { type OperationContext, operation, RELEASE_LOCK_MS, releaseLock } from "./operation.ts";
import { sweepReleaseBlobs } from "./releases/blobs.ts";
import { type Opened, planFor, single, store } from "./releases/store.ts";

/** Tries of an upload: each time a shared blob has just been deleted. */
const TRIES = 5;

/** A release from a file that was uploaded, or from an address. */
export const updateRelease = operation(updateReleaseParams, async (params, task, tools) => {
  // Not before: a task that is taken up again after a crash needs the file once more.
  if ("path" in params) task.atEnd(() => rm(params.path, { force: true }));
  task.atEnd(() => sweepReleaseBlobs(tools.db, tools.blobs));
  if (task.attempt > 1) await sweepReleaseBlobs(tools.db, tools.blobs, task.id);
  const dir = join(tools.uploadsDir, `unpacked-${task.id}`);
  await rm(dir, { recursive: true, force: true });
  const parts = join(dir, "parts");
  await mkdir(parts, { recursive: true, mode: 0o700 });
  try {
    const file = "path" in params ? params.path : await fetched(params, dir, task, tools);
    const opened: Opened = await single(task, "Extracting release", () =>
      openRelease(
        file,
        parts,
        ({ templates: _, monit: __, propertiesSchema: ___, ...job }, path) => ({ ...job, file: path }),
        {
          signal: task.signal,
        },
      ),
    );
    await single(task, "Verifying manifest", () => Promise.resolve());
    const { name } = opened.release;
    return await task.withLock(releaseLock(name), RELEASE_LOCK_MS, () =>
      intoStore(opened, params, task, tools),
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

async function fetched(
  { location, sha1 }: { readonly location: string; readonly sha1?: string | undefined },
  dir: string,
  task: TaskContext,
  tools: OperationContext,
): Promise<string> {
  const file = join(dir, "release.tgz");
  await single(task, "Downloading remote release", () =>
    downloadArchive(location, file, {
      what: "release",
      clock: tools.clock,
      signal: task.signal,
      proxy: tools.proxy?.(),
    }),
  );
  if (sha1 !== undefined)
    await single(task, "Verifying remote release", () => verifyDigest(file, sha1, "release"));
  return file;
}

async function intoStore(
  given: Opened,
  { fix, rebase }: { readonly fix: boolean; readonly rebase: boolean },
  task: TaskContext,
  tools: OperationContext,
): Promise<string> {
  const { name } = given.release;
  const before = await createdBy(tools.db, task.id, "release");
  // Another run of this task came to its end, and the version it chose is taken by itself.
  if (rebase && before !== undefined) return `Created release '${before}'`;
  const version = rebase
    ? rebased(given.release.version, await versionsOf(tools.db, name))
    : given.release.version;
  const opened = { ...given, release: { ...given.release, version } };
  await single(task, "Resolving package dependencies", async () => {
    dependenciesFirst(opened.release.packages);
  });
  for (let tries = 1; ; tries++) {
    const plan = await planFor(opened, fix, tools);
    try {
      await store(opened, plan, fix, task, tools);
      return `Created release '${name}/${version}'`;
    } catch (error) {
      if (!BlobWithoutOwner.is(error) || tries === TRIES) throw error;
    }
  }
}
