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
