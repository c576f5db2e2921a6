import type { DiskPlatform } from "../disks.ts";
import type { Platform } from "../platform.ts";
import { namespaceNetworks } from "./networks.ts";
import { type NamespaceSystemTools, namespaceSystem } from "./system.ts";

/** A VM that is a set of namespaces on its host. */
export function namespacePlatform(tools: NamespaceSystemTools & { readonly disks: DiskPlatform }): Platform {
  return {
    name: "namespace",
    disks: tools.disks,
    networks: namespaceNetworks(tools.paths),
    system: namespaceSystem(tools),
    // Whoever makes the sandbox decides what it sees of its host's directories.
    layout: {
      systemDirectories: async () => {},
      startLogging: async () => {},
      memory: async ({ jobs }) => {
        if (jobs)
          tools.log.warn("job_dir.tmpfs has no effect: a sandbox keeps jobs and sensitive blobs on its disk");
      },
      temporary: async () => {},
    },
  };
}
