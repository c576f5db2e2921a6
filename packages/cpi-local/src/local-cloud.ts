import { createHash } from "node:crypto";
import { mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { withLock } from "@slipway/kernel/lock-file";
import { type Random, systemRandom } from "@slipway/kernel/random";
import type { GivenConfig, LocalConfig } from "./config.ts";

export interface LocalTools {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly isRoot: boolean;
}

export const systemTools = (): LocalTools => ({
  exec: systemExec,
  clock: systemClock,
  random: systemRandom,
  isRoot: process.getuid?.() === 0,
});

/** One directory with everything in it, and the means to work on it. Nothing of it is kept in memory. */
export interface LocalCloud extends LocalTools {
  /** Without links in it, as the kernel shows it in tables of mounts. */
  readonly dir: string;
  readonly agent: string;
  readonly diskKind: LocalConfig["disks"];
  readonly provisioning: LocalConfig["provisioning"];
  readonly hidden: readonly string[];
  readonly shared: readonly string[];
}

export async function openCloud(config: GivenConfig, tools: LocalTools = systemTools()): Promise<LocalCloud> {
  const wanted = resolve(config.dir);
  await mkdir(join(wanted, "locks"), { recursive: true, mode: 0o700 });
  const dir = await realpath(wanted);
  return {
    ...tools,
    dir,
    agent: await withoutLinks(resolve(config.agent)),
    diskKind: config.disks ?? "auto",
    provisioning: config.provisioning ?? "preallocated",
    hidden: [dir, ...(await Promise.all((config.hide ?? []).map(withoutLinks)))],
    shared: await Promise.all((config.share ?? []).map(withoutLinks)),
  };
}

/** Resolves links, which may lead elsewhere in a sandbox. A missing path is reported where it is needed. */
const withoutLinks = (path: string): Promise<string> => realpath(path).catch(() => path);

/** A cid as the name of a directory. Ours are plain; others cannot lead out of the directory or meet one of ours. */
export const place = (cid: string): string =>
  /^[\w-]{1,120}$/.test(cid) ? cid : `other-${createHash("sha256").update(cid).digest("hex")}`;

type ResourceKind = "vms" | "disks" | "snapshots" | "stemcells" | "networks";

export const directoryOf = (cloud: LocalCloud, kind: ResourceKind): string => join(cloud.dir, kind);
export const placeOf = (cloud: LocalCloud, kind: ResourceKind, cid: string): string =>
  join(cloud.dir, kind, place(cid));

const PATIENCE_MS = 10 * 60_000;

/** One at a time, among all processes that work on this directory. Ends with its holder. */
export const locked = <T>(cloud: LocalCloud, what: string, work: () => Promise<T>): Promise<T> =>
  withLock(join(cloud.dir, "locks", what), { clock: cloud.clock, waitMs: PATIENCE_MS }, work);
