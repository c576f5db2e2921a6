import { defineError } from "@slipway/kernel/errors";

/** The first words of these messages are upstream's: callers and people look for them. */
export const MountedElsewhere = defineError<{ source: string; target: string }>({
  code: "AGA-002",
  kind: "outside",
  message: (p) => `the disk ${p.source} is mounted on ${p.target}, where this agent does not put disks`,
  next: "Unmount it there. The agent does not touch mounts it did not make.",
});

export const NothingToMigrate = defineError<{ store: string; target: string }>({
  code: "AGA-003",
  kind: "outside",
  message: (p) => `migrating needs a disk on ${p.store} and another on ${p.target}`,
  next: "Mount the new disk first (mount_disk), then migrate.",
});

export const NetworkUnknown = defineError<{ name: string }>({
  code: "AGA-004",
  kind: "outside",
  message: (p) => `Network '${p.name}' is not found in settings`,
  next: "Recreate the VM: it was created without this network.",
});

export const NoDefaultIp = defineError<Record<string, never>>({
  code: "AGA-007",
  kind: "outside",
  message: () => "No default ip could be found",
  next: "Give the VM a network, or look why DHCP gave no address.",
});

export const NoStore = defineError<{ store: string }>({
  code: "AGA-010",
  kind: "outside",
  message: (p) => `no persistent disk is mounted on ${p.store}`,
  next: "Give the instance group a persistent disk, and deploy.",
});
