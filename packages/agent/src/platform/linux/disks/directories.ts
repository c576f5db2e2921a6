import type { DiskPlatform } from "../../disks.ts";
import { bindDirectory, isBindMount } from "./bind.ts";
import type { DiskContext } from "./context.ts";
import { directoryIn, isDirectory, locateDirectory } from "./directory.ts";
import { makeReadOnly } from "./mounting.ts";
import { mountsOfDirectories, mountTable } from "./mounts.ts";

type Overridden = "locate" | "mountSource" | "prepare" | "mount" | "mounts" | "remountReadOnly" | "isInUse";

/** Disks that are directories, mounted by binding them; what turns out to be a device is left to `devices`. */
export function directoryDisks(context: DiskContext, devices: DiskPlatform): Pick<DiskPlatform, Overridden> {
  return {
    locate: (disk, signal) => {
      const directory = directoryIn(disk.hint);
      if (directory === undefined) return devices.locate(disk, signal);
      // Each time one look, so that what comes first, directory or device, is taken.
      const lookForDevice = () => devices.locate(disk, AbortSignal.abort());
      return locateDirectory(context, disk.cid, directory, signal, lookForDevice);
    },
    mountSource: async (device) => ((await isDirectory(device)) ? device : devices.mountSource(device)),
    prepare: async (device, disk) => {
      if (!(await isDirectory(device))) await devices.prepare(device, disk);
    },
    mount: async (source, target, options) => {
      if (await isDirectory(source)) await bindDirectory(context, source, target, options);
      else await devices.mount(source, target, options);
    },
    mounts: async () => mountsOfDirectories(await mountTable(context.paths)),
    remountReadOnly: async (target) => makeReadOnly(context, target, await isBindMount(context, target)),
    isInUse: async (device) => (await isDirectory(device)) || devices.isInUse(device),
  };
}
