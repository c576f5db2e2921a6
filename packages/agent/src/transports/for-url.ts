import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { Log } from "../log.ts";
import type { BlobDirectory } from "./blob-directory.ts";
import { BusSchemeUnknown, BusUrlInvalid } from "./errors.ts";
import type { Transport, TransportCredentials } from "./transport.ts";

export interface AgentTransportOptions {
  /** Addresses of one kind: one `https://` address to listen on, or `nats://` servers. */
  readonly urls: readonly string[];
  readonly credentials: TransportCredentials;
  /** For HTTPS: callers need a certificate of this CA as well. */
  readonly clientCa?: string;
  readonly agentId: string;
  readonly blobs: BlobDirectory;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The scheme of the bus URL says how the agent is reached. Each way is loaded only where it is used. */
export async function transportForUrl(options: AgentTransportOptions): Promise<Transport> {
  const { urls, clientCa, ...rest } = options;
  const [first] = urls;
  if (first === undefined) throw BusUrlInvalid({ why: "there is none" });
  const schemes = new Set(urls.map(schemeOf));
  if (schemes.size > 1) throw BusUrlInvalid({ why: "there are several of different schemes" });
  const scheme = schemeOf(first);
  if (scheme === "nats") {
    const { natsTransport } = await import("./nats.ts");
    return natsTransport({ ...rest, urls });
  }
  if (scheme !== "https") throw BusSchemeUnknown({ scheme });
  if (urls.length > 1) throw BusUrlInvalid({ why: "there are several to listen on" });
  const { httpsTransport } = await import("./https.ts");
  return httpsTransport({ ...rest, url: first, ...(clientCa !== undefined && { clientCa }) });
}

/** Only the scheme: the rest of the URL holds a password. */
function schemeOf(url: string): string {
  const scheme = /^([a-z][a-z0-9+.-]{0,31}):/i.exec(url)?.[1];
  if (scheme === undefined) throw BusUrlInvalid({ why: "it has no scheme" });
  return scheme.toLowerCase();
}
