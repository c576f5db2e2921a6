import { defineError } from "@slipway/kernel/errors";

/** AGT-00x a transport cannot be used, 01x sending, 02x requests and tasks. */

export const BusSchemeUnknown = defineError<{ scheme: string }>({
  code: "AGT-001",
  kind: "operator",
  message: (p) => `the message bus URL has the scheme "${p.scheme}", which this agent does not speak`,
  next: "Give https://user:password@host:port or nats://host:port as mbus.",
});

export const BusUrlInvalid = defineError<{ why: string }>({
  code: "AGT-002",
  kind: "operator",
  message: (p) => `the message bus URL is not usable: ${p.why}`,
  next: "Give https://user:password@host:port or nats://host:port as mbus; percent-encode credentials in it.",
});

export const BadBusCertificate = defineError<{ why: string }>({
  code: "AGT-003",
  kind: "operator",
  message: (p) => `the certificate and key of the message bus cannot be used: ${p.why}`,
  next: "Give a certificate and its own private key as PEM in env.bosh.mbus.cert, the key without a passphrase. For create-env that is the env of the resource pool or instance group: cloud_provider.cert alone tells only the CLI whom to trust.",
});

export const CannotListen = defineError<{ host: string; port: number }>({
  code: "AGT-004",
  kind: "operator",
  message: (p) => `the agent cannot listen on ${p.host} port ${p.port}`,
  next: "Choose an address of this VM and a free port in mbus, or stop what listens there.",
});

export const SubscriptionRefused = defineError<{ subject: string }>({
  code: "AGT-012",
  kind: "outside",
  message: (p) => `the NATS server does not let this agent subscribe to ${p.subject}`,
  next: "Wait for the server to learn of this agent; the agent keeps trying. Then check its permissions.",
});

export const NotSent = defineError<{ subject: string; tries: number }>({
  code: "AGT-013",
  kind: "outside",
  message: (p) => `a message for ${p.subject} could not be sent in ${p.tries} tries`,
  next: "Look at the NATS server and the network between.",
});

export const TransportClosed = defineError<{ what: string }>({
  code: "AGT-014",
  kind: "outside",
  message: (p) => `${p.what}: the connection to the message bus is being closed`,
  next: "None: the agent is ending.",
});

export const BlobTooLarge = defineError<{ limit: number }>({
  code: "AGT-015",
  kind: "operator",
  message: (p) => `the blob is larger than the ${p.limit} bytes this agent takes`,
  next: "Deliver it through a blobstore, or give the agent a higher limit.",
});

export const TooManyWaiting = defineError<{ what: string; limit: number }>({
  code: "AGT-020",
  kind: "outside",
  message: (p) => `too many ${p.what} are waiting already (${p.limit})`,
  next: "Wait until some have finished. If none does, look at what the first one waits for.",
});

export const RecordsUnreadable = defineError<{ path: string; aside: string }>({
  code: "AGT-021",
  kind: "outside",
  message: (p) =>
    `the record of unfinished tasks ${p.path} cannot be read; it was put aside as ${p.aside} and no task was resumed`,
  next: "Repeat what the Director reports as lost. Check the disk if this happens again.",
});

export const RequestFailed = defineError<{ what: string }>({
  code: "AGT-022",
  kind: "bug",
  message: (p) => `${p.what} could not be answered`,
  next: "Report this with the cause.",
});

/** The first words are the ones for which a Director waits and asks again. */
export const AgentEnding = defineError<Record<string, never>>({
  code: "AGT-023",
  kind: "outside",
  message: () => "restarting agent: it takes no new tasks",
  next: "Send it again when the agent is back.",
});
