import { defineError } from "@slipway/kernel/errors";

/** DIR-03x NATS. */

export const NatsServerMissing = defineError<{ program: string }>({
  code: "DIR-030",
  kind: "operator",
  message: (p) => `the program ${p.program} is not installed, so no NATS server can be started`,
  next: "Install it (Debian and Ubuntu: `apt-get install nats-server`), name another one in nats.server.program, or leave NATS out: agents are then reached over HTTPS.",
});

export const NatsServerFailed = defineError<{ log: string; said: string }>({
  code: "DIR-031",
  kind: "outside",
  message: (p) => `the NATS server does not start: ${p.said}`,
  next: "See that its port is free (nats.server.port), and look at its log in the state directory.",
});

export const NatsIncomplete = defineError<{ why: string }>({
  code: "DIR-032",
  kind: "operator",
  message: (p) => `the configuration of NATS cannot be used: ${p.why}`,
  next: "Correct `nats` in the Director's configuration; docs/nats.md has examples.",
});

export const CannotServeBlobs = defineError<{ host: string; port: number }>({
  code: "DIR-033",
  kind: "operator",
  message: (p) => `blobs for agents cannot be served on ${p.host} port ${p.port}`,
  next: "Choose an address of this machine and a free port in nats.blobs, or stop what listens there.",
});

export const NatsAuthorityMissing = defineError<{ dir: string }>({
  code: "DIR-034",
  kind: "operator",
  message: (p) => `the authority of NATS that agents believe is not in ${p.dir}`,
  next: "Put `authority.pem` back from a backup of the state directory. Without it, leave `nats` out of the configuration and recreate the VMs.",
});

const mib = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MiB`;

export const BlobQuotaExceeded = defineError<{ agent: string; of: string; bytes: number; quota: number }>({
  code: "DIR-036",
  kind: "operator",
  status: 507,
  message: (p) =>
    `agent ${p.agent} may not put more into the Director's blob service: ${p.of} has ${mib(p.bytes)} there, its quota is ${mib(p.quota)}`,
  next: "See what the VM uploads. Blobs that nobody fetched are removed after a day; `nats.blobs.vm_quota_mb` and `deployment_quota_mb` allow more.",
});

export const TooManyBlobs = defineError<{ agent: string; most: number }>({
  code: "DIR-037",
  kind: "operator",
  status: 507,
  message: (p) => `agent ${p.agent} may not have more than ${p.most} blobs in the Director's blob service`,
  next: "See what the VM uploads. Blobs that nobody fetched are removed after a day.",
});

export const NoRoomForBlobs = defineError<{ agent: string }>({
  code: "DIR-038",
  kind: "operator",
  status: 507,
  message: (p) =>
    `agent ${p.agent} may not put more into the Director's blob service: its disk has no more room than the Director needs itself`,
  next: "Make room on the disk of the state directory; `slipway status` shows how full it is.",
});

export const NatsNotOurs = defineError<{ why: string }>({
  code: "DIR-035",
  kind: "operator",
  number: 100,
  message: (p) => `the Director cannot rotate the authority of NATS: ${p.why}`,
  next: "Rotate it where it is made, and tell the Director in `nats.ca` and `nats.client_ca`: docs/nats.md has the steps.",
});
