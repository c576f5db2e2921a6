import { defineError } from "@slipway/kernel/errors";

export const NoEngine = defineError<{ host: string; why: string }>({
  code: "DOC-001",
  kind: "operator",
  message: (p) => `no Docker Engine answers at ${p.host}: ${p.why}`,
  next: "Start the engine, or correct docker.host (and docker.tls) in the CPI's configuration. The user of the CPI must be allowed to use the socket: root, or a member of the group docker.",
});

export const WrongApiVersion = defineError<{ host: string; speaks: string; wanted: string }>({
  code: "DOC-002",
  kind: "operator",
  message: (p) =>
    `the engine at ${p.host} speaks version ${p.speaks} of the Docker API, and this CPI ${p.wanted}`,
  next: "Use Docker Engine 19.03 or later, or a CPI that is as new as the engine.",
});

export const EngineRefused = defineError<{ doing: string; status: number; said: string }>({
  code: "DOC-003",
  kind: "outside",
  message: (p) => `${p.doing}: the Docker Engine answers ${p.status}: ${p.said}`,
  next: "Look at what the engine says, and at its own log (journalctl -u docker). Then repeat.",
});

export const BadHost = defineError<{ host: string }>({
  code: "DOC-004",
  kind: "operator",
  message: (p) => `docker.host ${JSON.stringify(p.host)} is no address of a Docker Engine`,
  next: "Use unix:///var/run/docker.sock or tcp://HOST:2376 (with docker.tls).",
});

export const BadReply = defineError<{ doing: string; problems: readonly string[] }>({
  code: "DOC-005",
  kind: "outside",
  message: (p) => `${p.doing}: invalid response of the Docker Engine: ${p.problems.join("; ")}`,
  next: "See that docker.host leads to a Docker Engine, and not to a proxy or something else.",
});

export const ImageMissing = defineError<{ reference: string; why: string }>({
  code: "DOC-006",
  kind: "operator",
  message: (p) =>
    `the image ${JSON.stringify(p.reference)} of the stemcell cannot be pulled or found: ${p.why}`,
  next: "Pull or load it on the engine's host, see that its registry can be reached from there, or correct image_reference in stemcell.MF.",
});

export const WrongDigest = defineError<{ reference: string; wanted: string; has: string }>({
  code: "DOC-007",
  kind: "operator",
  message: (p) => `the image ${JSON.stringify(p.reference)} is not ${p.wanted}: it is ${p.has}`,
  next: "Somebody gave that name to another image. Use the stemcell that was made for it, or remove the image from the engine so that the right one is pulled.",
});

export const BadImage = defineError<{ why: string }>({
  code: "DOC-008",
  kind: "operator",
  message: (p) => `the image of the stemcell is not usable: ${p.why}`,
  next: "Use a stemcell of `slipway stemcell build --for docker`, or one whose image is a tar or tar.gz of a root file system.",
});

export const BadProperties = defineError<{ what: string; problems: readonly string[] }>({
  code: "DOC-009",
  kind: "operator",
  message: (p) => `the cloud properties of ${p.what} are not usable: ${p.problems.join("; ")}`,
  next: "Correct them in the cloud config (or in stemcell.MF); docs/use-the-docker-cpi.md lists what there is.",
});

export const AddressRefused = defineError<{ network: string; ip: string; why: string }>({
  code: "DOC-010",
  kind: "operator",
  message: (p) => `network '${p.network}': the address ${p.ip} cannot be used: ${p.why}`,
  next: "Free the address, or use another range in the cloud config. Nothing was left behind.",
});

export const NetworkRefused = defineError<{ network: string; why: string }>({
  code: "DOC-011",
  kind: "operator",
  message: (p) => `network '${p.network}' cannot be used: ${p.why}`,
  next: "Name a Docker network with a subnet in its cloud properties (name: …), or leave the name out: then one is made for the range.",
});

export const DidNotStart = defineError<{ cid: string; said: string }>({
  code: "DOC-012",
  kind: "outside",
  message: (p) => `the container ${p.cid} did not start: ${p.said}`,
  next: "Look at what the engine says: the stemcell's command is missing, or this host refuses a capability. Nothing was left behind.",
});

export const NoDiskHelperImage = defineError<{ why: string }>({
  code: "DOC-013",
  kind: "operator",
  message: (p) => `there is no usable image for the disk helper: ${p.why}`,
  next: "Upload a stemcell first, or name an image with sh, util-linux and coreutils as docker.keeper_image.",
});

export const NoLoopDevices = defineError<{ said: string }>({
  code: "DOC-014",
  kind: "operator",
  message: (p) => `this engine cannot make disks, which are loop devices of its host: ${p.said}`,
  next: "Rootless engines cannot, nor podman before 4.4. Else load the kernel module loop on the engine's host, and see that the engine may give the capability SYS_ADMIN.",
});

export const DiskInUse = defineError<{ disk: string; holder: string; why: string }>({
  code: "DOC-015",
  kind: "operator",
  message: (p) => `disk '${p.disk}' is in use by ${p.holder}: ${p.why}`,
  next: "Let its agent unmount the disk (unmount_disk) and detach it, end what uses it, or delete the VM.",
});

export const DiskCommandFailed = defineError<{ disk: string; doing: string; said: string }>({
  code: "DOC-016",
  kind: "outside",
  message: (p) => `disk '${p.disk}': ${p.doing} failed: ${p.said}`,
  next: "Fix what the message names, and repeat the call: it finishes what was begun.",
});

export const Unprotected = defineError<{ host: string }>({
  code: "DOC-017",
  kind: "operator",
  message: (p) =>
    `docker.host ${p.host} is another host, and docker.tls is not set: the connection would not be encrypted`,
  next: "Give docker.tls with ca, certificate and private_key. Whoever can speak to an engine is root on its host, and the settings of agents have keys in them.",
});

export const NoFreeDevice = defineError<{ sizeMib: number; reasons: readonly string[] }>({
  code: "DOC-018",
  kind: "operator",
  message: (p) => `no device of the pool can be a disk of ${p.sizeMib} MiB: ${p.reasons.join("; ")}`,
  next: "Add a device to docker.devices. One with content is never taken: if nobody needs what is on it, blank it on the engine's host (wipefs --all DEVICE, then blkdiscard --zeroout DEVICE) and repeat.",
});

export const DeviceLost = defineError<{ disk: string; said: string }>({
  code: "DOC-019",
  kind: "operator",
  message: (p) => `the device of disk '${p.disk}' was not found: ${p.said}`,
  next: "Connect the device again, so that it has the path it had when the disk was made (use paths of /dev/disk/by-id). Nothing was changed.",
});

export const NoInit = defineError<{ agent: string; init: string }>({
  code: "DOC-021",
  kind: "operator",
  message: (p) => `the stemcell has upstream's agent (${p.agent}), and no init at ${p.init} that starts it`,
  next: "Use a stemcell for Warden (stemcell_formats: warden-tar), or name what its containers run as `command` in the cloud properties of stemcell.MF. Nothing was left behind.",
});

export const UnreadableAgentConfig = defineError<{ path: string }>({
  code: "DOC-022",
  kind: "operator",
  message: (p) => `${p.path} of the stemcell, which has upstream's agent, is no JSON of an object`,
  next: "Use another stemcell; upload this one again with --fix if it was changed on the engine. Nothing was left behind.",
});

export const NoHostRoot = defineError<{ why: string }>({
  code: "DOC-020",
  kind: "operator",
  message: (p) => `no root file system can be made of this machine's own programs: ${p.why}`,
  next: "Install what is missing, or make a stemcell of Debian packages with `slipway stemcell build --for docker`, or of an image with `--from-image`.",
});
