import { mkdir } from "node:fs/promises";
import { HintUnusable } from "../../disk-errors.ts";
import type { DiskPlatform, EphemeralRequest } from "../../disks.ts";
import { bindDirectory } from "../../linux/disks/bind.ts";
import type { DiskContext } from "../../linux/disks/context.ts";
import { systemNodes } from "../../linux/disks/device-nodes.ts";
import { directoryIn, locateDirectory } from "../../linux/disks/directory.ts";
import { type LinuxDiskOptions, linuxDisks } from "../../linux/disks/linux-disks.ts";

/**
 * Disks of VMs that are Linux namespaces. A disk is a directory that the CPI made visible in the VM, and mounting is
 * binding it; no root is needed beyond the user namespace's own. Where there is real root it may be a loop device, which
 * is then used whole, as such VMs have no partition nodes.
 */
export function namespaceDisks(options: LinuxDiskOptions): DiskPlatform {
  const config = {
    ...options.config,
    BindMountPersistentDisk: true,
    UseWholePersistentDisk: true,
    DevicePathResolutionType: "" as const,
  };
  const context: DiskContext = { nodes: systemNodes, ...options, config };
  return {
    ...linuxDisks({ ...options, config }),
    setUpEphemeral: (request) => setUpEphemeral(context, request),
    // The root file system is the host's.
    growRoot: async () => {},
    setUpRawEphemeral: async (hints) => {
      if (hints.length === 0) return;
      throw HintUnusable({
        disk: "raw_ephemeral",
        why: "a VM made of namespaces has no raw ephemeral disks",
      });
    },
  };
}

/** A directory is enough; a disk of its own is bound onto it. Swap is the host's matter. */
async function setUpEphemeral(context: DiskContext, request: EphemeralRequest): Promise<void> {
  const directory = request.hint === undefined ? undefined : directoryIn(request.hint);
  if (context.config.SkipDiskSetup || directory === undefined) {
    await mkdir(request.target, { recursive: true, mode: 0o750 });
    return;
  }
  const source = await locateDirectory(context, "ephemeral", directory, request.signal, undefined);
  await bindDirectory(context, source, request.target, []);
}
