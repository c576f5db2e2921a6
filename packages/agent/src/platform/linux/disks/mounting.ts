import { mkdir, stat } from "node:fs/promises";
import { CommandFailed, type ExecResult, mustRun } from "@slipway/kernel/exec";
import { ifThere } from "@slipway/kernel/files";
import { DeviceReadOnly, MountConflict, UnmountBusy } from "../../disk-errors.ts";
import { blockDevice, isClaimed } from "./block-device.ts";
import type { DiskContext } from "./context.ts";
import { holdersOf } from "./holders.ts";
import { type MountEntry, mountAt, mountTable, visible } from "./mounts.ts";

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 1000;
const FREE_WITHIN_MS = 30_000;

/** Mounts a device and makes sure of what came of it. Mounted there already is success. */
export async function mountDevice(
  context: DiskContext,
  source: string,
  target: string,
  options: readonly string[],
): Promise<void> {
  const device = await blockDevice(context, source);
  const before = await mountTable(context.paths);
  const there = mountAt(before, target);
  const wantsReadOnly = options.some((option) => option.split(",").includes("ro"));
  if (there?.number === device.number && there.root === "/") {
    // An agent that was killed while migrating left it read-only.
    if (there.readOnly && !wantsReadOnly) await makeWritable(context, source, target, ["remount", "rw"]);
    return;
  }
  if (there !== undefined) throw MountConflict({ source, target, found: `${there.source} is mounted there` });
  const elsewhere = visible(before).find((entry) => entry.number === device.number && entry.root === "/");
  if (elsewhere !== undefined) {
    throw MountConflict({ source, target, found: `it is mounted on ${elsewhere.target} already` });
  }
  // mount(8) mounts a write-protected device read-only and calls it success; jobs would find out much later.
  if (device.readOnly && !wantsReadOnly) {
    throw DeviceReadOnly({ device: source, doing: `it is not mounted on ${target}` });
  }
  await mkdir(target, { recursive: true, mode: 0o700 });
  const flags = options.flatMap((option) => ["-o", option]);
  await mountOnceFree(context, source, target, flags);
  const now = mountAt(await mountTable(context.paths), target);
  if (now?.number !== device.number) {
    throw MountConflict({ source, target, found: `after mounting, ${now?.source ?? "nothing"} is there` });
  }
  if (now.readOnly && !wantsReadOnly) {
    await mustRun(context.exec, `unmounting ${target} again`, "umount", [target]);
    throw DeviceReadOnly({ device: source, doing: `the kernel mounted it read-only on ${target}` });
  }
}

/**
 * A mount namespace that was made a moment ago has a mount of the device, too, until it lets go of what it does not need. If
 * that one is read-only, the kernel calls the device busy.
 */
async function mountOnceFree(
  context: DiskContext,
  source: string,
  target: string,
  flags: readonly string[],
): Promise<void> {
  const until = context.clock.monotonic() + FREE_WITHIN_MS;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
    const result = await context.exec("mount", [...flags, source, target]);
    if (result.code === 0) return;
    if (!isBusy(result) || context.clock.monotonic() >= until)
      throw failed(`mounting ${source} on ${target}`, result);
    await context.clock.sleep(wait);
  }
}

/** Unmounts, as often as something is there. A busy one is tried again until the signal aborts; then who holds it is said. */
export async function unmountTarget(
  context: DiskContext,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  let wait = FIRST_WAIT_MS;
  for (;;) {
    const there = mountAt(await mountTable(context.paths), target);
    if (there === undefined) return;
    const result = await orAbort(context.exec("umount", [target]), signal);
    if (result === "aborted") throw await busy(context, target, "unmounting it", signal);
    if (result.code === 0) {
      await writeOut(context, there);
      continue;
    }
    // Somebody else may have unmounted it in this moment.
    if (mountAt(await mountTable(context.paths), target) === undefined) return;
    if (!isBusy(result)) throw failed(`unmounting ${target}`, result);
    if (signal.aborted) throw await busy(context, target, "unmounting it", signal);
    if (wait === FIRST_WAIT_MS) context.log.warn(await waitingFor(context, target));
    await context.clock.sleep(wait, signal).catch(() => undefined);
    if (signal.aborted) throw await busy(context, target, "unmounting it", signal);
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
  }
}

/**
 * A container, or a service with mounts of its own, may have a copy of a mount: its file system lives on there, and what was
 * written need not be on the disk, which may be detached next.
 */
async function writeOut(context: DiskContext, { source, target, number }: MountEntry): Promise<void> {
  const here = (await mountTable(context.paths)).some((entry) => entry.number === number);
  const device = here ? undefined : await ifThere(stat(source));
  // Who may not ask the kernel for it, as in a container, has no other namespaces of its own.
  const held = device?.isBlockDevice() === true && (await isClaimed(source).catch(() => false));
  if (!held) return;
  await mustRun(context.exec, `writing out ${source}`, "blockdev", ["--flushbufs", source]);
  context.log.warn(
    `${target} is unmounted, but ${source} is still mounted in another mount namespace (a container, or a service that has its own); what was written until now is on the disk`,
  );
}

/** `bind` changes only this mount and not its file system, which may be the machine's own. */
export async function makeReadOnly(context: DiskContext, target: string, bind: boolean): Promise<void> {
  const there = mountAt(await mountTable(context.paths), target);
  if (there === undefined) {
    throw MountConflict({
      source: "nothing",
      target,
      found: "nothing is mounted there to be made read-only",
    });
  }
  if (there.readOnly) return;
  // In a user namespace flags set from outside are locked: leaving one out would be clearing it, and is refused.
  const kept = there.options.filter((option) =>
    /^(nosuid|nodev|noexec|noatime|nodiratime|relatime)$/.test(option),
  );
  const options = bind ? ["remount", "bind", "ro", ...kept] : ["remount", "ro"];
  const result = await context.exec("mount", ["-o", options.join(","), target]);
  if (result.code !== 0 && isBusy(result)) throw await busy(context, target, "making it read-only");
  if (result.code !== 0) throw failed(`making ${target} read-only`, result);
  if (mountAt(await mountTable(context.paths), target)?.readOnly !== true) {
    throw MountConflict({ source: there.source, target, found: "it is still writable after the remount" });
  }
}

/** Undoes `makeReadOnly`; says so if the device or its file system does not allow it. */
export async function makeWritable(
  context: DiskContext,
  source: string,
  target: string,
  options: readonly string[],
): Promise<void> {
  const result = await context.exec("mount", ["-o", options.join(","), target]);
  if (result.code === 0 && mountAt(await mountTable(context.paths), target)?.readOnly === false) return;
  const said = result.stderr.trim() || "the kernel keeps it so";
  throw DeviceReadOnly({
    device: source,
    doing: `it is mounted on ${target} and cannot be made writable: ${said}`,
  });
}

const isBusy = (result: ExecResult) => /busy/i.test(result.stderr);

const failed = (doing: string, result: ExecResult) =>
  CommandFailed({
    doing,
    program: result.program,
    code: result.code,
    stderr: result.stderr.trim() || "no message",
  });

async function waitingFor(context: DiskContext, target: string): Promise<string> {
  const holders = await holdersOf(context.paths, target);
  return `${target} is in use and unmounted when it is left; held by: ${holders.join(", ") || "nobody that can be seen"}`;
}

async function busy(context: DiskContext, target: string, doing: string, signal?: AbortSignal) {
  const holders = await holdersOf(context.paths, target);
  return UnmountBusy({ target, doing, holders }, { cause: signal?.reason });
}

/** umount hangs in the kernel when a device does not answer any more; then it cannot be killed, only left behind. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T | "aborted"> {
  let unlisten = () => {};
  const aborted = new Promise<"aborted">((resolve) => {
    const onAbort = () => resolve("aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    unlisten = () => signal.removeEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    unlisten();
    work.catch(() => undefined);
  }
}
