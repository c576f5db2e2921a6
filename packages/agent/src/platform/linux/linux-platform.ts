import type { DiskPlatform } from "../disks.ts";
import type { Platform } from "../platform.ts";
import type { DiskContext } from "./disks/context.ts";
import { linuxLayout } from "./layout/linux-layout.ts";
import { linuxNetworks, type NetworkTools } from "./networks/linux-networks.ts";
import { linuxSystem, type SystemTools } from "./system/linux-system.ts";

export type LinuxTools = NetworkTools &
  SystemTools &
  Omit<DiskContext, "nodes"> & { readonly disks: DiskPlatform };

/** A machine with block devices, NICs and users of its own. */
export function linuxPlatform(tools: LinuxTools): Platform {
  return {
    name: "linux",
    disks: tools.disks,
    networks: linuxNetworks(tools),
    system: linuxSystem(tools),
    layout: linuxLayout(tools),
  };
}
