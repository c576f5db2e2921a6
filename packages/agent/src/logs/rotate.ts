import { constants } from "node:fs";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { messageTrail } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import type { AgentServices } from "../services.ts";

const LOOK_EVERY_MS = 60_000;
/** Factor of the limit above which the agent rotates a log itself on a machine whose logrotate may not run. */
const PATIENCE_WITH_LOGROTATE = 4;
const DEPTH = 3;
const KEPT = 7;
const DEFAULT_SIZE = "50M";
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1 << 10, m: 1 << 20, g: 1 << 30 };

/** Returns the size limit of all logs of the VM from the specification, in the form that logrotate takes. */
export function maxLogSize(spec: ApplySpec | undefined): string {
  const { logging } = (spec?.properties ?? {}) as { logging?: { max_log_file_size?: unknown } };
  const size = String(logging?.max_log_file_size ?? "").trim();
  return /^\d{1,15}[kMG]?$/.test(size) && !/^0+\D?$/.test(size) ? size : DEFAULT_SIZE;
}

const bytesOf = (size: string): number => {
  const [, number = "0", unit = ""] = /^(\d+)(\D?)$/.exec(size) ?? [];
  return Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
};

type Parts = Pick<AgentServices, "paths" | "platform" | "spec" | "clock" | "log">;

/** Keeps the logs of jobs small for as long as the agent runs. A log that cannot be rotated is said once. */
export async function rotateLogs(parts: Parts, signal: AbortSignal): Promise<void> {
  let told = "";
  while (!signal.aborted) {
    try {
      const size = maxLogSize(await parts.spec.load());
      const helped = await parts.platform.system.setLogRotation(size);
      await rotateAbove(parts.paths.sysLog, bytesOf(size) * (helped ? PATIENCE_WITH_LOGROTATE : 1));
      told = "";
    } catch (error) {
      const why = messageTrail(error);
      if (why !== told) parts.log.warn(`logs are not rotated: ${why}`);
      told = why;
    }
    await parts.clock.sleep(LOOK_EVERY_MS, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

/** Rotates every log below this directory that is larger. One that fails does not keep the others from it. */
export async function rotateAbove(directory: string, bytes: number): Promise<void> {
  const failures: unknown[] = [];
  for (const path of await logsIn(directory, DEPTH))
    await rotateOne(path, bytes).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function logsIn(directory: string, depth: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && depth > 1) found.push(...(await logsIn(path, depth - 1)));
    else if (entry.isFile() && entry.name.endsWith(".log")) found.push(path);
  }
  return found;
}

/**
 * Copies the log and cuts it off, since the job has it open and goes on writing; the copy before becomes `.2.gz`. Jobs
 * own these directories: no link of theirs is followed.
 */
async function rotateOne(path: string, bytes: number): Promise<void> {
  const { O_RDWR, O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
  const log = await ifThere(open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
  if (log === undefined) return;
  try {
    const before = await log.stat();
    if (!before.isFile() || before.size <= bytes) return;
    const made = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    await rm(`${path}.${KEPT}.gz`, { force: true });
    for (let at = KEPT - 1; at >= 2; at--) await ifThere(rename(`${path}.${at}.gz`, `${path}.${at + 1}.gz`));
    const last = await ifThere(open(`${path}.1`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (last !== undefined) {
      await rm(`${path}.2.gz.tmp`, { force: true });
      await copied(last, await open(`${path}.2.gz.tmp`, made, before.mode & 0o777), before, true);
      await rename(`${path}.2.gz.tmp`, `${path}.2.gz`);
      await rm(`${path}.1`);
    }
    const copy = await open(`${path}.1`, made, before.mode & 0o777);
    await copied(log, copy, before, false);
    await log.truncate(0);
  } finally {
    await log.close().catch(() => undefined);
  }
}

/** Closes the copy, and its source when that is read to the end. */
async function copied(
  from: FileHandle,
  to: FileHandle,
  owner: { readonly uid: number; readonly gid: number },
  gzip: boolean,
): Promise<void> {
  const source = from.createReadStream({ start: 0, autoClose: gzip });
  const target = to.createWriteStream();
  await to.chown(owner.uid, owner.gid);
  if (gzip) await pipeline(source, createGzip(), target);
  else await pipeline(source, target);
}
