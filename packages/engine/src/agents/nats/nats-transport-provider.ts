import type { Clock } from "@slipway/kernel/clock";
import type { NatsCredentials } from "@slipway/kernel/nats/dial";
import { DAY_MS, type Issued } from "../../pki/authority.ts";
import type { TransportProvider } from "../transport-provider.ts";
import type { AgentBlobs } from "./agent-blobs.ts";
import type { NatsBus } from "./bus.ts";
import { NatsUnreachable } from "./errors.ts";
import { agentName, bootstrapName, DIRECTOR_NAME, natsClient } from "./names.ts";
import { natsTransport } from "./nats-transport.ts";
import { type NatsTrust, trustMark } from "./trust.ts";

export interface NatsTransportOptions {
  readonly bus: Pick<NatsBus, "request" | "description" | "whyUnconnected">;
  /** URLs by which agents reach the NATS servers. */
  readonly urls: readonly string[];
  /** Asked for each certificate: it changes when an authority takes over from another. */
  readonly trust: () => NatsTrust;
  readonly blobs?: AgentBlobs | undefined;
  /** Called before a VM is made, so that its agent may take part. */
  readonly authorize: () => Promise<void>;
  /** Gives a VM a lasting certificate at creation, for agents that are not restarted when their certificate is replaced. */
  readonly lastingFromBirth?: boolean | undefined;
}

/** Long enough to boot and be reached; then it is replaced. */
const BOOTSTRAP_DAYS = 1;
/** A Director that was off for months must still reach its agents. */
const CERTIFICATE_DAYS = 365;
/** Long enough for a server that is restarted, or for the first connection of this process. */
const CONNECT_MS = 10_000;
const DIRECTOR_DAYS = 30;
const DIRECTOR_RENEW_AFTER_DAYS = 20;

/** Every agent is a client of the bus, with a certificate of its own and rights to its own subjects alone. */
export function natsTransportProvider(options: NatsTransportOptions): TransportProvider {
  const { trust, urls, blobs } = options;
  const issue = async (commonName: string, days: number) => {
    const now = trust();
    const issued = await now.authority.issue({ ...natsClient(commonName), days });
    return {
      cert: certOf(issued, now),
      given: { certificateUntil: issued.until, natsTrust: trustMark(now) },
    };
  };
  return {
    ready: async () => {
      const why = await options.bus.whyUnconnected(CONNECT_MS);
      if (why !== undefined) throw NatsUnreachable({ servers: options.bus.description, why });
    },
    transportTo: ({ agentId }) => natsTransport(agentId, options),
    introduce: async ({ agentId }) => {
      const { cert, given } = options.lastingFromBirth
        ? await issue(agentName(agentId), CERTIFICATE_DAYS)
        : await issue(bootstrapName(agentId), BOOTSTRAP_DAYS);
      await options.authorize();
      return {
        envBosh: {
          mbus: { urls: [...urls], cert },
          ...(blobs !== undefined && { blobstores: [blobs.blobstoreFor(agentId)] }),
        },
        ...given,
      };
    },
    // Wherever the VM is.
    urlFor: () => urls[0],
    renewal: async ({ agentId }) => {
      const { cert, given } = await issue(agentName(agentId), CERTIFICATE_DAYS);
      return { settings: { mbus: { cert } }, ...given };
    },
    signerEnds: () => trust().authority.ends,
  };
}

const certOf = ({ certificate, privateKey }: Issued, { serverCa }: NatsTrust) => ({
  ca: serverCa,
  certificate,
  private_key: privateKey,
});

/**
 * Returns the certificate that the Director presents to NATS servers. It is kept in memory only, and renewed when it is about to
 * end or when the trusted authorities change.
 */
export function directorCredentials(options: {
  readonly trust: () => NatsTrust;
  readonly clock: Clock;
}): () => Promise<NatsCredentials> {
  const { trust, clock } = options;
  let current: NatsCredentials | undefined;
  let issuedAt = 0;
  let mark = "";
  return async () => {
    const now = trust();
    const age = clock.now() - issuedAt;
    const fits = age > -DAY_MS / 2 && age < DIRECTOR_RENEW_AFTER_DAYS * DAY_MS && mark === trustMark(now);
    if (current !== undefined && fits) return current;
    issuedAt = clock.now();
    mark = trustMark(now);
    const { certificate, privateKey } = await now.authority.issue({
      ...natsClient(DIRECTOR_NAME),
      days: DIRECTOR_DAYS,
    });
    current = { ca: now.serverCa, certificate, privateKey };
    return current;
  };
}
