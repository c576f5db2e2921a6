import { isIP } from "node:net";
import type { Clock } from "@slipway/kernel/clock";
import type { MakeWire } from "@slipway/kernel/http/wire";
import type { Random } from "@slipway/kernel/random";
import { type Authority, DAY_MS, type Issued } from "../pki/authority.ts";
import { bracketed, reachableIp, readAddress, urlOf } from "./address.ts";
import { AGENT_USER, type AgentSecret } from "./credentials.ts";
import { httpsTransport } from "./https-transport.ts";
import type { VmToIntroduce, Way } from "./way.ts";

export interface HttpsWayOptions {
  readonly authority: Authority;
  readonly secret: AgentSecret;
  /** Port that agents listen on. */
  readonly port: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly directorUuid: string;
  /** Lifetime of agents' certificates; default one year. */
  readonly certificateDays?: number;
  /** Makes the connections to agents that cannot be reached directly. */
  readonly wire?: MakeWire | undefined;
}

/** A Director that was off for months must still reach its agents: a certificate that ended cannot be renewed. */
const CERTIFICATE_DAYS = 365;
const CLIENT_DAYS = 30;
const CLIENT_RENEW_AFTER_DAYS = 20;

/** Mutual TLS: each agent has a certificate of its own from the Director's authority, and a password. */
export function httpsWay(options: HttpsWayOptions): Way {
  const { authority, secret, port } = options;
  const identity = clientIdentity(options);

  const certificateFor = (vm: VmToIntroduce) =>
    authority.issue({
      commonName: vm.agentId,
      sans: { dns: [vm.agentId], ips: vm.ips },
      usage: "server",
      days: options.certificateDays ?? CERTIFICATE_DAYS,
    });

  return {
    transportTo: (address) => {
      const { agentId } = address;
      const { host, port: at } = readAddress(address);
      const peer = { agentId, host, port: at, user: AGENT_USER, password: secret.passwordFor(agentId) };
      return httpsTransport(peer, { ...options, identity });
    },
    introduce: async (vm) => {
      const issued = await certificateFor(vm);
      const ip = vm.ips.find((one) => isIP(one) !== 0) ?? "0.0.0.0";
      const url = `https://${AGENT_USER}:${secret.passwordFor(vm.agentId)}@${bracketed(ip)}:${port}`;
      return {
        envBosh: { mbus: { urls: [url], cert: certOf(issued) } },
        certificateUntil: issued.until,
      };
    },
    urlFor: (networks) => {
      const ip = reachableIp(networks);
      return ip === undefined ? undefined : urlOf(ip, port);
    },
    renewal: async (vm) => {
      const issued = await certificateFor(vm);
      return { settings: { mbus: { cert: certOf(issued) } }, certificateUntil: issued.until };
    },
    // Agents are called, each by itself.
    ready: () => Promise.resolve(),
    signerEnds: () => authority.ends,
  };

  function certOf({ ca, certificate, privateKey }: Issued) {
    return { ca, certificate, private_key: privateKey, client_ca: ca };
  }
}

/** The certificate the Director calls agents with: in memory only, a new one when it is about to end. */
function clientIdentity({ authority, clock, directorUuid }: HttpsWayOptions): () => Promise<Issued> {
  let current: Promise<Issued> | undefined;
  let issuedAt = 0;
  return () => {
    const age = clock.now() - issuedAt;
    // Below 0: it was issued while the clock was ahead, and may not be valid yet. Certificates begin a day early.
    const fits = age > -DAY_MS / 2 && age < CLIENT_RENEW_AFTER_DAYS * DAY_MS;
    if (current !== undefined && fits) return current;
    issuedAt = clock.now();
    current = authority.issue({
      commonName: `director ${directorUuid}`,
      sans: { dns: [], ips: [] },
      usage: "client",
      days: CLIENT_DAYS,
    });
    current.catch(() => {
      current = undefined;
    });
    return current;
  };
}
