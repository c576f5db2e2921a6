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

export const NatsNotOurs = defineError<{ why: string }>({
  code: "DIR-035",
  kind: "operator",
  number: 100,
  message: (p) => `the Director cannot rotate the authority of NATS: ${p.why}`,
  next: "Rotate it where it is made, and tell the Director in `nats.ca` and `nats.client_ca`: docs/nats.md has the steps.",
});
