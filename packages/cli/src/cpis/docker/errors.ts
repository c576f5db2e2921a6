import { defineError } from "@slipway/kernel/errors";

export const EngineAbsent = defineError<{ host: string; why: string }>({
  code: "CLU-033",
  kind: "operator",
  message: (p) => `no Docker Engine answers at ${p.host}: ${p.why}`,
  next: "See whether `docker -H {host} version` works. Start the engine, or name another with --docker-host or DOCKER_HOST. For a socket you must be root or a member of the group docker (log in again after joining it).",
});

export const BadDockerHost = defineError<{ host: string; why: string }>({
  code: "CLU-034",
  kind: "operator",
  message: (p) => `the Docker Engine at ${p.host} cannot be used: ${p.why}`,
  next: "Give --docker-host (or DOCKER_HOST) unix:///PATH, or tcp://HOST:2376 together with DOCKER_CERT_PATH, a directory with ca.pem, cert.pem and key.pem. ssh:// is not supported.",
});

export const CertificatesUnreadable = defineError<{ path: string; why: string }>({
  code: "CLU-035",
  kind: "operator",
  message: (p) => `the certificate or key ${p.path} for the Docker Engine cannot be read: ${p.why}`,
  next: "Set DOCKER_CERT_PATH to the directory with ca.pem, cert.pem and key.pem.",
});

export const OtherEngine = defineError<{ dir: string; host: string; remembered: string }>({
  code: "CLU-036",
  kind: "operator",
  message: (p) =>
    `the engine at ${p.host} is not the one that has the containers of ${p.dir}; that was at ${p.remembered}`,
  next: "Leave out --docker-host and DOCKER_HOST, or use another directory and port: SLIPWAY_HOME=DIR slipway up --cpi docker --port N. If that engine is gone for good, so are the containers and disks.",
});

export const NatsElsewhere = defineError<Record<never, never>>({
  code: "CLU-041",
  kind: "operator",
  message: () =>
    "--nats starts a server on this machine, and no address of this machine is known that the containers of this Docker Engine reach",
  next: "Give `nats` with addresses that containers reach in a file for --config; docs/nats.md has an example.",
});

export const RangeInUse = defineError<{ range: string; holder: string }>({
  code: "CLU-026",
  kind: "operator",
  message: (p) =>
    `the demo's container was to have an address of ${p.range}; these are taken, by ${p.holder}`,
  next: "Choose others, `slipway demo --cpi docker --range 10.246.0.0/24`, or another 24 bits of a private network that nobody here uses.",
});
