import type { Clock } from "@slipway/kernel/clock";
import type { Exec } from "@slipway/kernel/exec";
import type { LinuxConfig } from "@slipway/protocol/agent/agent-config";
import type { Log } from "../../../log.ts";
import type { Paths } from "../../../paths.ts";
import type { DiskPlatform } from "../../disks.ts";
import { blockDevice } from "./block-device.ts";
import { inspect } from "./contents.ts";
import type { DiskContext } from "./context.ts";
import { verifiedCopy } from "./copy.ts";
import { type DeviceNodes, systemNodes } from "./device-nodes.ts";
import { directoryDisks } from "./directories.ts";
import { setUpEphemeral } from "./ephemeral.ts";
import { growRoot } from "./grow-root.ts";
import { targetOf } from "./hint-target.ts";
import { firstPartitionPath } from "./kernel-partitions.ts";
import { keyedLock } from "./keyed-lock.ts";
import { locateDevice } from "./locate.ts";
import { makeReadOnly, mountDevice, unmountTarget } from "./mounting.ts";
import { mountsWithSources, mountTable } from "./mounts.ts";
import { preparePersistent } from "./prepare.ts";
import { setUpRawEphemeral } from "./raw-ephemeral.ts";

export interface LinuxDiskOptions {
  readonly config: LinuxConfig;
  readonly paths: Paths;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Log;
  /** Device nodes; the system's unless a test has its own. */
  readonly nodes?: DeviceNodes;
}

/** Disks that are block devices. */
export function linuxDisks(options: LinuxDiskOptions): DiskPlatform {
  const context: DiskContext = { nodes: systemNodes, ...options };
  const { config, paths } = context;
  const whole = Boolean(config.UseWholePersistentDisk || config.UsePreformattedPersistentDisk);
  // Two requests for one disk or place, at once, must not both see it empty.
  const alone = keyedLock();
  const disks: DiskPlatform = {
    locate: (disk, signal) => locateDevice(context, targetOf(disk.cid, disk.hint), signal),
    mountSource: async (device) => (whole ? device : firstPartitionPath(context, device)),
    prepare: (device, disk) => alone("disks", () => preparePersistent(context, device, disk)),
    mount: (source, target, mountOptions) =>
      alone("mounts", () => mountDevice(context, source, target, mountOptions)),
    unmount: (target, signal) => unmountTarget(context, target, signal),
    remountReadOnly: (target) => makeReadOnly(context, target, false),
    mounts: async () => mountsWithSources(await mountTable(paths)),
    isInUse: (device) => isInUse(context, device),
    copy: (from, to) => verifiedCopy(context, from, to),
    setUpEphemeral: (request) => alone("disks", () => setUpEphemeral(context, request)),
    growRoot: () => alone("disks", () => growRoot(context)),
    setUpRawEphemeral: (devices) => alone("disks", () => setUpRawEphemeral(context, devices)),
  };
  return config.BindMountPersistentDisk ? { ...disks, ...directoryDisks(context, disks) } : disks;
}

/** Upstream asks only for a partition table, and so never mounts a preformatted disk again after a reboot. */
async function isInUse(context: DiskContext, path: string): Promise<boolean> {
  const contents = await inspect(context, await blockDevice(context, path));
  return (
    contents.kind === "file-system" || (contents.kind === "table" && contents.table.partitions.length > 0)
  );
}
