import { readFile } from "node:fs/promises";
import { messageTrail } from "@slipway/kernel/errors";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { certificateOf } from "../variables/open.ts";
import { HeaderUnusable } from "./errors.ts";
import type { Collector } from "./exporter.ts";

/** Program that makes the spans: the same for as long as the Director runs. */
interface Maker {
  readonly version: string;
  readonly name: string;
}

/** Returns the collector with the current content of its files; undefined if the configuration disables tracing. */
export async function collectorOf(
  tracing: DirectorConfig["tracing"],
  { version, name }: Maker,
): Promise<Collector | undefined> {
  if (tracing === undefined) return undefined;
  const { otlp, service_name: service = "slipway-director" } = tracing;
  const ca = await certificateOf("tracing.otlp.ca", otlp.ca);
  return {
    url: tracesUrl(otlp.endpoint),
    headers: await tracingHeaders(otlp.headers),
    tls: ca === undefined ? undefined : { ca },
    resource: { "service.name": service, "service.version": version, "service.instance.id": name },
  };
}

/** Returns the URL for traces, of the address of a collector or of the whole URL. */
function tracesUrl(endpoint: string): URL {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith("/v1/traces")) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url;
}

/** A value that is the path of a file is what the file has. */
export async function tracingHeaders(
  given: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string>>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw HeaderUnusable({ name, why: "that is no name of a header" });
    const text = value.startsWith("/") ? await fileOf(name, value) : value;
    if (!/^[\x20-\x7e]+$/.test(text))
      throw HeaderUnusable({ name, why: "its value is no line of ASCII text" });
    headers[name.toLowerCase()] = text;
  }
  return headers;
}

async function fileOf(name: string, path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (cause) {
    throw HeaderUnusable({ name, why: messageTrail(cause) }, { cause });
  }
}
