import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "@slipway/protocol/schema/json";
import { registryClient } from "@slipway/registry/client";
import { startRegistry } from "@slipway/registry/server";
import type { RegistryView } from "../cpi/check.ts";
import type { CloudFile } from "./cloud-file.ts";

const USER = "certify";

export interface SessionRegistry {
  /** Configuration with the registry in it, and the two worse ones. */
  readonly files: { readonly good: string; readonly without: string; readonly refusing: string };
  readonly port: number;
  readonly view: Omit<RegistryView, "without" | "refusing">;
  close(): Promise<void>;
}

export interface RegistryOrder {
  /** Directory of the run. */
  readonly dir: string;
  readonly config: unknown;
  readonly cloud: CloudFile;
  readonly password: string;
  /** The port of a run that is taken up again; default: any. */
  readonly port?: number;
}

/** Starts the registry of a run and writes the configurations that lead to it. */
export async function openRegistry({
  dir,
  config,
  cloud,
  password,
  port = 0,
}: RegistryOrder): Promise<SessionRegistry> {
  const { key = keyFor(config), host = "127.0.0.1" } =
    cloud.registry === "none" ? {} : (cloud.registry ?? {});
  const seen: { method: string; key: string; status: number }[] = [];
  const registry = await startRegistry({
    dir: join(dir, "registry"),
    host,
    port,
    users: [{ username: USER, password }],
    onRequest: ({ method, id, status }) => void (id !== undefined && seen.push({ method, key: id, status })),
  });
  const client = registryClient({ endpoint: registry.url, username: USER, password });
  const section = (secret: string) => ({ endpoint: registry.url, user: USER, password: secret });
  const write = async (name: string, content: unknown) => {
    const path = join(dir, name);
    await writeFile(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  };
  return {
    files: {
      good: await write("cpi.json", withKey(config, key, section(password))),
      without: await write("cpi-without-registry.json", withKey(config, key, undefined)),
      refusing: await write("cpi-refused-by-registry.json", withKey(config, key, section(`not-${password}`))),
    },
    port: registry.port,
    view: {
      requests: () => seen,
      // A look of our own is no request of the CPI.
      entry: async (id) => {
        const before = seen.length;
        const entry = await client.get(id);
        for (let at = seen.length - 1; at >= before; at--) if (seen[at]?.key === id) seen.splice(at, 1);
        return entry;
      },
    },
    close: () => registry.close(),
  };
}

/** CPIs of BOSH keep their properties under cloud.properties; others at the top. */
const keyFor = (config: unknown): string =>
  isObject(config) && isObject(config.cloud) && isObject(config.cloud.properties)
    ? "cloud.properties.registry"
    : "registry";

/** Returns a copy of the document with this value at the path, or without anything there. */
export function withKey(document: unknown, path: string, value: unknown): unknown {
  const [first = "", ...rest] = path.split(".");
  const { [first]: inner, ...others } = isObject(document) ? document : {};
  if (rest.length > 0) return { ...others, [first]: withKey(inner, rest.join("."), value) };
  return value === undefined ? others : { ...others, [first]: value };
}
