import type { DockerConfig } from "../config.ts";
import { BadHost, Unprotected } from "../errors.ts";

/** Where an engine is, as Node's `request` takes it. */
export interface EngineAddress {
  /** For messages. */
  readonly shown: string;
  readonly secure: boolean;
  readonly options:
    | { readonly socketPath: string }
    | {
        readonly host: string;
        readonly port: number;
        readonly ca?: string;
        readonly cert?: string;
        readonly key?: string;
      };
}

export function addressOf({ host, tls }: Pick<DockerConfig, "host" | "tls">): EngineAddress {
  const socket = /^unix:\/\/(\/.+)$/.exec(host)?.[1];
  if (socket !== undefined) return { shown: host, secure: false, options: { socketPath: socket } };
  const url = /^(tcp|https?):\/\//.test(host) ? parsed(host.replace(/^tcp:/, "http:")) : undefined;
  if (url === undefined || url.hostname === "") throw BadHost({ host });
  const secure = tls !== undefined || url.protocol === "https:";
  if (!secure && !["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)) throw Unprotected({ host });
  const certificates = tls && { ca: tls.ca, cert: tls.certificate, key: tls.private_key };
  const port = url.port === "" ? (secure ? 2376 : 2375) : Number(url.port);
  // An IPv6 address stands in brackets in a URL, and nowhere else.
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { shown: host, secure, options: { host: name, port, ...certificates } };
}

const parsed = (host: string): URL | undefined => (URL.canParse(host) ? new URL(host) : undefined);
