import type { Clock } from "@slipway/kernel/clock";
import type { NatsCredentials } from "@slipway/kernel/nats/dial";
import { type Authority, DAY_MS, type Issued } from "../../pki/authority.ts";
import type { Way } from "../way.ts";
import type { AgentBlobs } from "./agent-blobs.ts";
import type { NatsBus } from "./bus.ts";
import { agentName, bootstrapName, DIRECTOR_NAME } from "./names.ts";
import { natsTransport } from "./nats-transport.ts";

export interface NatsWayOptions {
  readonly bus: Pick<NatsBus, "request" | "description">;
  /** By which agents reach the servers. */
  readonly urls: readonly string[];
  /** Who signs for agents; the servers believe it. */
  readonly authority: Authority;
  /** By whom agents know the servers, PEM. */
  readonly serverCa: string;
  readonly blobs?: AgentBlobs | undefined;
  /** Called before a VM is made, so that its agent may take part. */
  readonly authorize: () => Promise<void>;
}

/** Long enough to boot and be reached; then it is replaced. */
const BOOTSTRAP_DAYS = 1;
/** A Director that was off for months must still reach its agents. */
const CERTIFICATE_DAYS = 365;
const DIRECTOR_DAYS = 30;
const DIRECTOR_RENEW_AFTER_DAYS = 20;

/** Every agent is a client of the bus, with a certificate of its own and rights to its own subjects alone. */
export function natsWay(options: NatsWayOptions): Way {
  const { authority, urls, serverCa, blobs } = options;
  const issue = (commonName: string, days: number) =>
    authority.issue({ subject: "bosh", commonName, sans: { dns: [], ips: [] }, usage: "client", days });
  const certOf = ({ certificate, privateKey }: Issued) => ({
    ca: serverCa,
    certificate,
    private_key: privateKey,
  });
  return {
    transportTo: ({ agentId }) => natsTransport(agentId, options),
    introduce: async ({ agentId }) => {
      const issued = await issue(bootstrapName(agentId), BOOTSTRAP_DAYS);
      await options.authorize();
      return {
        envBosh: {
          mbus: { urls: [...urls], cert: certOf(issued) },
          ...(blobs !== undefined && { blobstores: [blobs.blobstoreFor(agentId)] }),
        },
        certificateUntil: issued.until,
      };
    },
    // Wherever the VM is.
    urlFor: () => urls[0],
    renewal: async ({ agentId }) => {
      const issued = await issue(agentName(agentId), CERTIFICATE_DAYS);
      return { settings: { mbus: { cert: certOf(issued) } }, certificateUntil: issued.until };
    },
  };
}

/** What the Director shows to NATS servers: in memory only, a new one when it is about to end. */
export function directorCredentials(options: {
  readonly authority: Authority;
  readonly serverCa: string;
  readonly clock: Clock;
}): () => Promise<NatsCredentials> {
  const { authority, serverCa, clock } = options;
  let current: NatsCredentials | undefined;
  let issuedAt = 0;
  return async () => {
    const age = clock.now() - issuedAt;
    if (current !== undefined && age > -DAY_MS / 2 && age < DIRECTOR_RENEW_AFTER_DAYS * DAY_MS)
      return current;
    issuedAt = clock.now();
    const { certificate, privateKey } = await authority.issue({
      subject: "bosh",
      commonName: DIRECTOR_NAME,
      sans: { dns: [], ips: [] },
      usage: "client",
      days: DIRECTOR_DAYS,
    });
    current = { ca: serverCa, certificate, privateKey };
    return current;
  };
}
