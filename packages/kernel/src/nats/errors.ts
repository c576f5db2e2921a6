import { defineError } from "../errors.ts";

/** NAT-00x a connection to a NATS server, of whoever makes it. */

export const NatsUrlInvalid = defineError<{ why: string }>({
  code: "NAT-001",
  kind: "operator",
  message: (p) => `the URL of the NATS server is not usable: ${p.why}`,
  next: "Give nats://host:port; percent-encode credentials in it.",
});

export const ConnectTimeout = defineError<{ server: string; ms: number }>({
  code: "NAT-002",
  kind: "outside",
  message: (p) => `the NATS server ${p.server} did not finish the greeting within ${p.ms / 1000} s`,
  next: "Look at the NATS server: it takes connections but does not talk. It is tried again and again.",
});

export const WrongServerName = defineError<{ server: string }>({
  code: "NAT-003",
  kind: "operator",
  message: (p) =>
    `the certificate of the NATS server ${p.server} is not accepted: its common name must end in .nats.bosh-internal`,
  next: "Give the server a certificate with the CN default.nats.bosh-internal, or correct its address.",
});
