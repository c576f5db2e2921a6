import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { type HttpTls, tlsOptions, usable } from "./wire.ts";

/** TLS with who is at the other end of a connection that is there already. */
export async function startTls(socket: Duplex, url: URL, tls: HttpTls): Promise<TLSSocket> {
  const { connect } = await import("node:tls");
  const { host, port: _, ...own } = tlsOptions(url, tls);
  // A name is asked for by it; an address has none.
  const servername = own.servername ?? (isIP(host) === 0 ? host : undefined);
  return usable(() => connect({ ...own, socket, host, ...(servername !== undefined && { servername }) }));
}
