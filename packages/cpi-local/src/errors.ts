import { defineError } from "@slipway/kernel/errors";

export const NamespacesRefused = defineError<{ why: string; allow: string }>({
  code: "LOC-001",
  kind: "operator",
  message: (p) => `this host does not allow sandboxes: ${p.why}. What would allow them: ${p.allow}`,
  next: "Allow namespaces as said, run as root, or use a host that allows them. Nothing was left behind.",
});

export const SandboxDidNotStart = defineError<{ cid: string; said: string }>({
  code: "LOC-002",
  kind: "outside",
  message: (p) => `the sandbox ${p.cid} did not start; it said: ${p.said}`,
  next: "Look at what it said: a program, a mount or the agent's bundle is missing. Then repeat.",
});

export const SandboxDoesNotEnd = defineError<{ cid: string; pid: number; why: string }>({
  code: "LOC-003",
  kind: "outside",
  message: (p) => `the sandbox ${p.cid} (process ${p.pid}) cannot be ended: ${p.why}`,
  next: "End that process, with the rights of the user who started it, and repeat. Nothing was deleted.",
});

export const ForeignSandbox = defineError<{ cid: string; pid: number }>({
  code: "LOC-004",
  kind: "operator",
  message: (p) =>
    `the sandbox ${p.cid} runs as process ${p.pid} of another pid namespace, where it cannot be seen from here`,
  next: "Use this directory from where its sandboxes were made, or remove the file named process in the sandbox's directory if that place is gone.",
});

export const AddressRefused = defineError<{ network: string; ip: string; why: string }>({
  code: "LOC-005",
  kind: "operator",
  message: (p) => `network '${p.network}': the address ${p.ip} cannot be used: ${p.why}`,
  next: "Use another range in the cloud config, or free the address; `127.x.0.0/24` with an x of your own always works.",
});

export const NetworkSetupFailed = defineError<{ cid: string; said: string }>({
  code: "LOC-006",
  kind: "outside",
  message: (p) => `the networks of the sandbox ${p.cid} cannot be looked at: ${p.said}`,
  next: "Install iproute2, or use a range of 127.0.0.0/8, which needs no network of its own.",
});

export const DiskInUse = defineError<{ disk: string; vm: string; why: string }>({
  code: "LOC-007",
  kind: "operator",
  message: (p) => `disk '${p.disk}' cannot be taken from '${p.vm}': ${p.why}`,
  next: "Let its agent unmount the disk first (unmount_disk), end what uses it, or delete the VM.",
});

export const DiskCommandFailed = defineError<{ disk: string; doing: string; said: string }>({
  code: "LOC-008",
  kind: "outside",
  message: (p) => `disk '${p.disk}': ${p.doing} failed: ${p.said}`,
  next: "The disk is as it was. Fix what the message names, and repeat.",
});

export const NoLoopDisks = defineError<{ why: string }>({
  code: "LOC-009",
  kind: "operator",
  message: (p) => `disks of the kind loop cannot be made here: ${p.why}`,
  next: "Set disks to directory or auto in the configuration of the local CPI, or run as root where loop devices and mkfs.ext4 work.",
});

export const BadImage = defineError<{ why: string }>({
  code: "LOC-010",
  kind: "operator",
  message: (p) => `the image of the stemcell is not usable: ${p.why}`,
  next: "Use a stemcell of `slipway stemcell build`, or one whose image is a tar or tar.gz of a root file system.",
});

export const BadProperties = defineError<{ what: string; problems: readonly string[] }>({
  code: "LOC-011",
  kind: "operator",
  message: (p) => `the cloud properties of ${p.what} are not usable: ${p.problems.join("; ")}`,
  next: "Correct them in the cloud config; docs/use-the-local-cpi.md lists what there is.",
});
