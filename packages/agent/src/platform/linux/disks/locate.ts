import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { DeviceAmbiguous, DeviceNotFound, HintUnusable } from "../../disk-errors.ts";
import { nodeFor } from "./block-device.ts";
import type { DiskContext } from "./context.ts";
import { type DiskIdentity, nameOf } from "./hint-target.ts";
import { byIdLink } from "./resolve/by-id-link.ts";
import { deviceNumberInHint } from "./resolve/device-number.ts";
import { exactPath, mappedPath } from "./resolve/device-path.ts";
import { iscsiSession } from "./resolve/iscsi.ts";
import { loopFile } from "./resolve/loop-file.ts";
import { lunLink } from "./resolve/lun-link.ts";
import { rescanScsi, scsiAddress, scsiVolume } from "./resolve/scsi.ts";
import { type Attempt, explicitIds, type Strategy } from "./resolve/strategy.ts";
import { sysfsSerial } from "./resolve/sysfs-serial.ts";
import { vmbusLun } from "./resolve/vmbus.ts";
import { attribute, entries } from "./sysfs.ts";

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 1000;

/** Strategies that identify the disk itself. All are asked, and they must agree. */
const IDENTITY: readonly Strategy[] = [byIdLink, sysfsSerial, loopFile];

/** Returns the strategies that identify the disk's slot, in order. The first that finds something counts. */
function places(target: DiskIdentity, context: DiskContext): readonly Strategy[] {
  const fixed = [lunLink, deviceNumberInHint, scsiAddress];
  switch (context.config.DevicePathResolutionType ?? "") {
    case "virtio":
      return [...fixed, mappedPath];
    case "scsi": {
      // As upstream, a path counts for nothing beside a LUN or target number, which stay when names change.
      const named = target.path?.startsWith("/") && (target.volumeId ?? target.path) === target.path;
      const onlyPath = named && target.lun === undefined;
      return [...fixed, onlyPath ? exactPath : scsiVolume, vmbusLun];
    }
    case "iscsi":
      return [...fixed, target.path === undefined ? iscsiSession : exactPath];
    default:
      return [...fixed, exactPath];
  }
}

/** The device of a disk. Looks at least once, then again and again until the signal aborts. */
export async function locateDevice(
  context: DiskContext,
  target: DiskIdentity,
  signal: AbortSignal,
): Promise<string> {
  const started = context.clock.monotonic();
  let wait = FIRST_WAIT_MS;
  for (;;) {
    const { device, tried } = await look(context, target);
    if (device !== undefined) {
      context.log.info(`disk ${nameOf(target)} is ${device}, by ${tried.at(-1)}`);
      return device;
    }
    if (tried.length === 0) throw HintUnusable({ disk: nameOf(target), why: "it names nothing to look for" });
    // Sleeping ends early, with an error, when the time is up.
    if (!signal.aborted) await context.clock.sleep(wait, signal).catch(() => undefined);
    if (signal.aborted) {
      const waitedMs = context.clock.monotonic() - started;
      throw DeviceNotFound({ disk: nameOf(target), tried, waitedMs }, { cause: signal.reason });
    }
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
    if (context.config.DevicePathResolutionType === "scsi") await rescanScsi(context);
  }
}

interface Look {
  readonly device?: string;
  readonly tried: readonly string[];
}

async function look(context: DiskContext, target: DiskIdentity): Promise<Look> {
  const identified = await Promise.all(IDENTITY.map((strategy) => strategy(target, context)));
  const attempts = identified.filter((attempt) => attempt !== undefined);
  const found = attempts.filter((attempt) => attempt.devices.length > 0);
  if (found.length > 0) {
    const by = found.map((attempt) => attempt.tried).join(" and ");
    const device = await theOne(context, target, {
      tried: by,
      devices: found.flatMap((attempt) => attempt.devices),
    });
    if (device !== undefined) return { device, tried: [by] };
  }
  const tried = attempts.map((attempt) => attempt.tried);
  // The hint says which disk it must be, and it is not there yet: another in its place would be the wrong one.
  if (explicitIds(target).length > 0) return { tried };
  for (const strategy of places(target, context)) {
    const attempt = await strategy(target, context);
    if (attempt === undefined) continue;
    tried.push(attempt.tried);
    const device = await theOne(context, target, attempt);
    if (device !== undefined) return { device, tried };
  }
  return { tried };
}

/** Several links and attributes may lead to one device, never to several. */
async function theOne(
  context: DiskContext,
  target: DiskIdentity,
  attempt: Attempt,
): Promise<string | undefined> {
  const byNumber = new Map<string, string>();
  for (const device of attempt.devices) {
    const number = await context.nodes.numberOf(device);
    if (number !== undefined && !byNumber.has(number)) byNumber.set(number, device);
  }
  const [first, ...others] = byNumber.values();
  if (first === undefined || others.length === 0) return first;
  const joined = await multipath(context, [...byNumber.keys()]);
  if (joined !== undefined) return joined;
  throw DeviceAmbiguous({ disk: nameOf(target), devices: [...byNumber.values()], by: attempt.tried });
}

/** Several ways to one disk are joined by the device mapper; the joined device is the one to use. */
async function multipath(context: DiskContext, numbers: readonly string[]): Promise<string | undefined> {
  const sysfs = (number: string) => context.paths.system("sys", "dev", "block", number);
  const tops = new Set<string>();
  for (const number of numbers) {
    const uuid = await attribute(join(sysfs(number), "dm", "uuid"));
    const holders = await entries(join(sysfs(number), "holders"));
    if (uuid?.startsWith("mpath-")) tops.add((await realpath(sysfs(number))).split("/").at(-1) ?? "");
    else if (holders.length === 1 && holders[0] !== undefined) tops.add(holders[0]);
    else return undefined;
  }
  const [top, ...rest] = tops;
  if (top === undefined || rest.length > 0) return undefined;
  const block = context.paths.system("sys", "block", top);
  const number = await attribute(join(block, "dev"));
  const name = await attribute(join(block, "dm", "name"));
  if (number === undefined || name === undefined) return undefined;
  return nodeFor(context, top, number, context.paths.system("dev", "mapper", name));
}
