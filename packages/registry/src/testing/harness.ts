import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TEST_CERT } from "@slipway/testkit/tls-fixture";
import { onTestFinished } from "vitest";
import { type Registry, type RegistryOptions, startRegistry } from "../server.ts";

/** A password that must turn up nowhere but in an Authorization header. */
export const PASSWORD = "canary-p:ss/w%rd é";
export const USER = { username: "registry", password: PASSWORD };

export const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
export const AUTH = { authorization: basic(USER.username, USER.password) };

export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-registry-test-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export async function startHere(dir: string, options: Partial<RegistryOptions> = {}): Promise<Registry> {
  const registry = await startRegistry({ dir, port: 0, users: [USER], ...options });
  onTestFinished(() => registry.close());
  return registry;
}

export const start = async (options: Partial<RegistryOptions> = {}) =>
  startHere(join(await tempDir(), "state"), options);

export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export function send(
  base: string,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Got> {
  const { protocol, hostname, port } = new URL(base);
  const request = protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const length =
      options.body === undefined ? {} : { "content-length": String(Buffer.byteLength(options.body)) };
    const given = options.headers ?? {};
    const headers = "transfer-encoding" in given ? given : { ...length, ...given };
    const host = hostname.replace(/[[\]]/g, "");
    const outgoing = request({ hostname: host, port, method, path, headers, ca: TEST_CERT }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(options.body);
  });
}

export const path = (id: string) => `/instances/${encodeURIComponent(id)}/settings`;

export const put = (
  base: string,
  id: string,
  body: string | Buffer,
  headers: Record<string, string> = AUTH,
) => send(base, "PUT", path(id), { headers, body });

export const get = (base: string, id: string, headers: Record<string, string> = AUTH) =>
  send(base, "GET", path(id), { headers });

/** The settings text behind a reply, decoded the way an agent does. */
export async function settingsOf(base: string, id: string): Promise<string | undefined> {
  const got = await get(base, id);
  if (got.status === 404) return undefined;
  if (got.status !== 200) throw new Error(`got HTTP ${got.status}`);
  const reply = JSON.parse(got.text) as { status: string; settings: string };
  return reply.settings;
}
