import { defineError } from "@slipway/kernel/errors";

/** DIA-02x reaching agents over NATS. */

export const NotASubject = defineError<{ agentId: string }>({
  code: "DIA-020",
  kind: "bug",
  message: (p) => `the agent id "${p.agentId}" cannot be part of a NATS subject`,
  next: "Report this.",
});

export const NatsNotConfigured = defineError<{ agentId: string; url: string }>({
  code: "DIA-021",
  kind: "operator",
  message: (p) =>
    `the agent ${p.agentId} is reached over NATS at ${p.url}, and this Director is configured without NATS`,
  next: "Give the Director `nats` in its configuration again (`slipway up --nats`), or delete the VM and deploy again with HTTPS.",
});

export const NoBlobsOverNats = defineError<{ agentId: string }>({
  code: "DIA-022",
  kind: "operator",
  message: (p) =>
    `the agent ${p.agentId} is reached over NATS, which carries no blobs, and no place is configured where agents get them`,
  next: "Set nats.blobs in the Director's configuration, start it again, and recreate the VM.",
});

export const NatsUnreachable = defineError<{ servers: string; why: string }>({
  code: "DIA-130",
  kind: "outside",
  message: (p) =>
    `the Director has no connection to NATS at ${p.servers}: ${p.why}; no VM is created or replaced, since its agent could not be reached`,
  next: "See that the NATS server runs and that it knows the Director's certificate (docs/nats.md), then deploy again.",
});
