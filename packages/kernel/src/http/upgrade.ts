import type { RequestOptions } from "node:http";
import type { Socket } from "node:net";
import type { HttpClientOptions, HttpRequest } from "./client.ts";
import { hostOf, portOf, tlsOptions, usable } from "./wire.ts";

/**
 * Asks for a connection to become more than a request and its answer. From then on it is the caller's, and nobody else
 * watches over it. Undefined: whoever was asked answers in the usual way.
 */
export async function upgraded(
  { origin, socketPath, tls = {} }: Pick<HttpClientOptions, "origin" | "socketPath" | "tls">,
  { method, path, headers, body, signal }: HttpRequest & { readonly body: string },
): Promise<Socket | undefined> {
  const url = new URL(origin);
  const secure = url.protocol === "https:";
  const { request } = secure ? await import("node:https") : await import("node:http");
  const options: RequestOptions = {
    ...(secure
      ? tlsOptions(url, typeof tls === "function" ? await tls() : tls)
      : { host: hostOf(url), port: portOf(url) }),
    ...(socketPath !== undefined && { socketPath }),
    method,
    path,
    headers: {
      host: url.host,
      "content-length": String(Buffer.byteLength(body)),
      connection: "Upgrade",
      upgrade: "tcp",
      ...headers,
    },
    agent: false,
  };
  return await new Promise((resolve, reject) => {
    const outgoing = usable(() => request(options));
    const abort = () => outgoing.destroy(signal?.reason as Error);
    signal?.addEventListener("abort", abort, { once: true });
    const over = () => signal?.removeEventListener("abort", abort);
    outgoing.on("upgrade", (_, socket, head) => {
      over();
      if (head.length > 0) socket.unshift(head);
      resolve(socket as Socket);
    });
    outgoing.on("response", (response) => {
      over();
      response.destroy();
      resolve(undefined);
    });
    outgoing.on("error", (error) => {
      over();
      reject(error);
    });
    outgoing.end(body);
  });
}
