import { basicAuth } from "@slipway/kernel/http/client";
import { trimEnd } from "@slipway/kernel/text";
import type { RegistryClientOptions, RegistryEndpoint } from "./client-options.ts";
import { BadEndpoint } from "./errors.ts";

/**
 * Talks to a registry, old or ours. A CPI process loads this file at every start, so everything that costs time is
 * loaded at the first call.
 */
export interface RegistryClient {
  /** Creates or replaces the settings of an instance. They are sent as they are. */
  put(id: string, settings: string): Promise<void>;
  /** The settings text, or undefined when the registry says that it has none. */
  get(id: string): Promise<string | undefined>;
  /** Fine when there was nothing. */
  delete(id: string): Promise<void>;
}

export function registryClient(options: RegistryClientOptions): RegistryClient {
  const target = targetOf(options);
  const talk = async () => await import("./client-requests.ts");
  return {
    put: async (id, settings) => (await talk()).put(target, options, id, settings),
    get: async (id) => (await talk()).get(target, options, id),
    delete: async (id) => (await talk()).remove(target, options, id),
  };
}

function targetOf(options: RegistryClientOptions): RegistryEndpoint {
  const url = urlOf(options.endpoint);
  const username = options.username ?? decoded(url.username);
  const password = options.password ?? decoded(url.password);
  return {
    origin: url.origin,
    basePath: trimEnd(url.pathname, "/"),
    authorization: username === "" && password === "" ? undefined : basicAuth(username, password),
  };
}

/** The messages never quote the endpoint, which may hold a password. */
function urlOf(endpoint: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(endpoint) ? endpoint : `http://${endpoint}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw BadEndpoint({ why: "is not a URL" });
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw BadEndpoint({ why: "is neither http nor https" });
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw BadEndpoint({ why: "has credentials that are not percent-encoded" });
  }
}
