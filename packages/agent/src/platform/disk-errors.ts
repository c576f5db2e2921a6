import { defineError } from "@slipway/kernel/errors";

export const DeviceNotFound = defineError<{ disk: string; tried: readonly string[]; waitedMs: number }>({
  code: "AGD-001",
  kind: "outside",
  message: (p) =>
    `no device for disk ${p.disk} after ${(p.waitedMs / 1000).toFixed(1)} s; tried: ${p.tried.join("; ") || "nothing, the hint names nothing this platform can look for"}`,
  next: "See in the IaaS whether the disk is attached to this VM, and whether the CPI's hint names it as the list says.",
});

export const DeviceAmbiguous = defineError<{ disk: string; devices: readonly string[]; by: string }>({
  code: "AGD-002",
  kind: "outside",
  message: (p) => `disk ${p.disk} is claimed by several devices (${p.devices.join(", ")}) by ${p.by}`,
  next: "Detach what does not belong to this VM, or give the disks different serial numbers. None was touched.",
});

export const HintUnusable = defineError<{ disk: string; why: string }>({
  code: "AGD-003",
  kind: "operator",
  message: (p) => `the hint of disk ${p.disk} cannot be used: ${p.why}`,
  next: "Compare what the CPI's attach_disk returned with DevicePathResolutionType in the agent's configuration.",
});

export const ForeignContent = defineError<{ device: string; found: string; wanted: string }>({
  code: "AGD-004",
  kind: "operator",
  message: (p) =>
    `${p.device} is not formatted: it holds ${p.found}, ${p.wanted} was expected; nothing was changed`,
  next: "If the data is wanted, attach the disk where it belongs. If the disk may be erased, wipe it (wipefs --all, then zero it) and repeat.",
});

export const UnsupportedFileSystem = defineError<{ type: string }>({
  code: "AGD-005",
  kind: "operator",
  message: (p) => `The filesystem type "${p.type}" is not supported`,
  next: "Set persistent_disk_fs to ext4 or xfs, or leave it out.",
});

export const TooManyPartitions = defineError<{ device: string; count: number }>({
  code: "AGD-006",
  kind: "operator",
  message: (p) =>
    `Persistent disks with many partitions are not supported. Expected 1, got ${p.count}. (${p.device})`,
  next: "This is not a disk of ours, or somebody repartitioned it. Attach the right one.",
});

export const NoPartitionDevice = defineError<{ device: string; partition: number; said: string }>({
  code: "AGD-007",
  kind: "operator",
  message: (p) =>
    `${p.device} has partition ${p.partition} in its table, but this kernel makes no device for it, neither by itself nor when told by partx: ${p.said}`,
  next: "Use disks whole on such a machine: set Platform.Linux.UseWholePersistentDisk in the agent's configuration. An empty table made by the agent is replaced then.",
});

export const UnmountBusy = defineError<{ target: string; doing: string; holders: readonly string[] }>({
  code: "AGD-008",
  kind: "outside",
  message: (p) =>
    `${p.target} is in use, ${p.doing} was given up; held by: ${p.holders.join(", ") || "nobody this process can see (another mount namespace, or the kernel)"}`,
  next: "Stop the processes that are named, then repeat.",
});

export const MountConflict = defineError<{ source: string; target: string; found: string }>({
  code: "AGD-009",
  kind: "outside",
  message: (p) => `${p.source} cannot be mounted on ${p.target}: ${p.found}`,
  next: "See the mount table (findmnt); unmount what is in the way, then repeat.",
});

export const CopyDiffers = defineError<{ from: string; to: string; differences: readonly string[] }>({
  code: "AGD-010",
  kind: "outside",
  message: (p) => `the copy of ${p.from} in ${p.to} is not equal: ${p.differences.join("; ")}`,
  next: "The source is untouched and still the valid one. Look for what writes to either side, or for errors of the new disk, then repeat.",
});

export const CopyNoSpace = defineError<{ from: string; to: string; said: string }>({
  code: "AGD-011",
  kind: "operator",
  message: (p) => `the content of ${p.from} does not fit into ${p.to}: ${p.said}`,
  next: "The source is untouched. Give the new disk more room, then repeat.",
});

export const NoEphemeralDisk = defineError<{ why: string }>({
  code: "AGD-012",
  kind: "operator",
  message: (p) => `No ephemeral disk found, cannot use root partition as ephemeral disk (${p.why})`,
  next: "Give the VM an ephemeral disk, or set Platform.Linux.SkipDiskSetup where a directory is enough.",
});

export const IscsiFailed = defineError<{ target: string; step: string; said: string }>({
  code: "AGD-013",
  kind: "outside",
  message: (p) => `iSCSI target ${p.target}: ${p.step} failed: ${p.said}`,
  next: "See whether the target answers from this VM and whether the user is allowed there.",
});

export const DeviceReadOnly = defineError<{ device: string; doing: string }>({
  code: "AGD-014",
  kind: "outside",
  message: (p) => `${p.device} can only be read: ${p.doing}`,
  next: "Attach the disk writable, or look for I/O errors in the kernel log. Nothing was changed.",
});

export const DeviceSmaller = defineError<{ device: string; has: number; needs: number; what: string }>({
  code: "AGD-015",
  kind: "outside",
  message: (p) =>
    `${p.device} has ${p.has} bytes, but ${p.what} on it needs ${p.needs}: the device is smaller than it was`,
  next: "Give it back its size, or attach the right disk. Nothing was changed.",
});

export const DeviceClaimed = defineError<{ device: string; doing: string }>({
  code: "AGD-016",
  kind: "outside",
  message: (p) => `${p.device} is held by another program or the kernel (EBUSY), so ${p.doing} was not begun`,
  next: "Look for a running mkfs, a mount in another namespace, LVM, device mapper or swap on it.",
});

export const DeviceGone = defineError<{ device: string; why: string }>({
  code: "AGD-017",
  kind: "outside",
  message: (p) => `${p.device} is not there any more: ${p.why}`,
  next: "See in the IaaS whether the disk was detached while it was in use.",
});

export const MountTableUnreadable = defineError<{ line: string }>({
  code: "AGD-018",
  kind: "outside",
  message: (p) => `the kernel's mount table cannot be understood at: ${p.line}`,
  next: "Look at /proc/self/mountinfo. Nothing is mounted or unmounted without knowing what is there.",
});
