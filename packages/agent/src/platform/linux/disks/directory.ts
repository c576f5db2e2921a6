import { lstat } from "node:fs/promises";
import { ifThere } from "@slipway/kernel/files";
import type { DiskHint } from "@slipway/protocol/settings/disk-hint";
import { DeviceNotFound } from "../../disk-errors.ts";
import { type DiskContext, underRoot } from "./context.ts";
import { mountAt, mountTable } from "./mounts.ts";

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1000;

export interface DirectoryHint {
  readonly path: string;
  /** The CPI mounts the disk there: as long as it has not, the directory is only where the disk will be. */
  readonly mounted: boolean;
}

/** The directory a hint names: a path, or `{path, mounted: true}`. */
export function directoryIn(hint: DiskHint): DirectoryHint | undefined {
  if (hint.kind === "text")
    return hint.text.startsWith("/") ? { path: hint.text, mounted: false } : undefined;
  if (hint.path === undefined || !hint.path.startsWith("/")) return undefined;
  const mounted = hint.extra?.mounted;
  return { path: hint.path, mounted: mounted === true || mounted === "true" };
}

/** A link could lead out of the disks' place, so the directory must be one itself. */
export async function isDirectory(path: string): Promise<boolean> {
  return (await ifThere(lstat(path)))?.isDirectory() ?? false;
}

/** Waits for the directory; `orDevice` looks, once each time, whether the path leads to a block device instead. */
export async function locateDirectory(
  context: DiskContext,
  disk: string,
  wanted: DirectoryHint,
  signal: AbortSignal,
  orDevice: (() => Promise<string>) | undefined,
): Promise<string> {
  const started = context.clock.monotonic();
  const path = underRoot(context, wanted.path);
  let wait = FIRST_WAIT_MS;
  for (;;) {
    const directory = await isDirectory(path);
    const ready = wanted.mounted ? mountAt(await mountTable(context.paths), path) !== undefined : true;
    if (directory && ready) return path;
    const device = directory ? undefined : await orDevice?.().catch(whenNotFound);
    if (device !== undefined) return device;
    if (!signal.aborted) await context.clock.sleep(wait, signal).catch(() => undefined);
    if (signal.aborted) {
      const found = directory
        ? `directory ${path} is there, but nothing is mounted on it`
        : `no directory ${path}`;
      const waitedMs = context.clock.monotonic() - started;
      throw DeviceNotFound({ disk, tried: [found], waitedMs }, { cause: signal.reason });
    }
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
  }
}

function whenNotFound(error: unknown): undefined {
  if (DeviceNotFound.is(error)) return undefined;
  throw error;
}
