import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { registryClient } from "@slipway/registry/client";
import { startRegistry } from "@slipway/registry/server";
import { onTestFinished } from "vitest";
import { tempDir, until } from "./waiting.ts";

const USER = "registry";
const PASSWORD = "CANARY-live p@ss/word";

export interface RegistryEntry {
  readonly [key: string]: unknown;
  readonly disks: { readonly persistent: Readonly<Record<string, unknown>> };
}

export interface LiveRegistry {
  /** The `registry` section of a CPI's configuration. */
  readonly section: { readonly endpoint: string; readonly user: string; readonly password: string };
  /** Requests so far, such as `PUT vm-1`. */
  readonly seen: string[];
  readonly entry: (cid: string) => Promise<RegistryEntry | undefined>;
  readonly put: (cid: string, text: string) => Promise<void>;
  /** Forgets what it was asked. */
  readonly forget: () => void;
}

/** Our registry on a free port, for one test. */
export async function liveRegistry(): Promise<LiveRegistry> {
  const seen: string[] = [];
  const registry = await startRegistry({
    dir: join(await tempDir(), "registry"),
    port: 0,
    users: [{ username: USER, password: PASSWORD }],
    onRequest: (event) => seen.push(`${event.method} ${event.id}`),
  });
  onTestFinished(() => registry.close());
  const client = registryClient({ endpoint: registry.url, username: USER, password: PASSWORD });
  return {
    section: { endpoint: registry.url, user: USER, password: PASSWORD },
    seen,
    entry: async (cid) => {
      const before = seen.length;
      const text = await client.get(cid);
      // Our own question is nothing a CPI has asked.
      await until("the registry to note a request", () => seen.splice(before).at(0));
      return text === undefined ? undefined : (JSON.parse(text) as RegistryEntry);
    },
    put: (cid, text) => client.put(cid, text),
    forget: () => {
      seen.length = 0;
    },
  };
}

/** A registry that answers as told: a status, or the connection cut. */
export async function wrongRegistry(
  answer: (method: string) => number | "cut",
): Promise<{ readonly endpoint: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const method = request.method ?? "";
    seen.push(method);
    const told = answer(method);
    request.resume();
    if (told === "cut") request.socket.destroy();
    else response.writeHead(told, { "Content-Type": "application/json" }).end('{"status":"error"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** A port where nobody listens. */
export async function deadEndpoint(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
