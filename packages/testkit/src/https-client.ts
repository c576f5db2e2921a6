import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { CA } from "./certificates.ts";

export interface HttpsAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  readonly text: string;
}

export interface HttpsCall extends RequestOptions {
  readonly body?: string | Buffer;
}

/** One request on a connection of its own. */
export async function call(port: number, path: string, options: HttpsCall = {}): Promise<HttpsAnswer> {
  const { body, ...rest } = options;
  const request = httpsRequest({
    host: "127.0.0.1",
    port,
    path,
    ca: CA,
    agent: false,
    auth: "mbus:s3cret",
    ...rest,
  });
  // A refused upload may be cut off after its answer has been read.
  request.on("error", () => {});
  request.end(body);
  const failed = once(request, "error").then(([error]) => {
    throw error;
  });
  failed.catch(() => undefined);
  const [response] = (await Promise.race([once(request, "response"), failed])) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const whole = Buffer.concat(chunks);
  return { status: response.statusCode, headers: response.headers, body: whole, text: whole.toString() };
}

export const post = (port: number, body: string, options: HttpsCall = {}) =>
  call(port, "/agent", { method: "POST", body, ...options });
