import type { HttpClientOptions } from "@slipway/kernel/http/client";
import type { DockerConfig } from "../config.ts";
import { BadHost, Unprotected } from "../errors.ts";

/** Address of an engine. */
export interface EngineAddress {
  /** For messages. */
  readonly shown: string;
  readonly secure: boolean;
  readonly at: Pick<HttpClientOptions, "origin" | "socketPath" | "tls">;
}

export function addressOf({ host, tls }: Pick<DockerConfig, "host" | "tls">): EngineAddress {
  const socket = /^unix:\/\/(\/.+)$/.exec(host)?.[1];
  // A socket has no name of its own to be sent.
  if (socket !== undefined)
    return { shown: host, secure: false, at: { origin: "http://docker", socketPath: socket } };
  const url = /^(tcp|https?):\/\//.test(host) ? parsed(host.replace(/^tcp:/, "http:")) : undefined;
  if (url === undefined || url.hostname === "") throw BadHost({ host });
  const secure = tls !== undefined || url.protocol === "https:";
  if (!secure && !["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)) throw Unprotected({ host });
  const certificates = tls && { ca: tls.ca, cert: tls.certificate, key: tls.private_key };
  const port = url.port === "" ? (secure ? 2376 : 2375) : Number(url.port);
  const origin = `http${secure ? "s" : ""}://${url.hostname}:${port}`;
  return { shown: host, secure, at: { origin, tls: certificates } };
}

const parsed = (host: string): URL | undefined => (URL.canParse(host) ? new URL(host) : undefined);
