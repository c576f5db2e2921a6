import type { JsonObject } from "@slipway/protocol/schema/json";
import { SourceFailed } from "../errors.ts";
import { shownUrl } from "../shown-url.ts";
import { type Exchange, exchange, type MetadataAnswer } from "./http-exchange.ts";
import type { SettingsReader, SourceTools } from "./source.ts";

const ATTEMPT_TIMEOUT_MS = 10_000;
/** AWS's version 2 of the metadata service: a short-lived token proves that the caller is no blind proxy. */
const TOKEN_LIFE = { "X-aws-ec2-metadata-token-ttl-seconds": "300" };
const TOKEN_HEADER = "X-aws-ec2-metadata-token";

interface Common {
  readonly URI: string;
  readonly Headers?: JsonObject | null | undefined;
}

export interface HttpOptions extends Common {
  readonly UserDataPath?: string | undefined;
  readonly InstanceIDPath?: string | undefined;
  readonly SSHKeysPath?: string | undefined;
  readonly TokenPath?: string | undefined;
}

/** A metadata service as AWS, OpenStack and their like have it. */
export function httpSource(options: HttpOptions, tools: SourceTools): SettingsReader {
  const get = getter("HTTP", options, options.TokenPath, tools);
  const { InstanceIDPath: idPath, SSHKeysPath: keysPath } = options;
  return {
    name: `HTTP ${shownUrl(options.URI + (options.UserDataPath ?? ""))}`,
    read: (signal) => get.text(options.UserDataPath ?? "", signal),
    ...(idPath !== undefined && {
      instanceId: async (signal: AbortSignal) => (await get.text(idPath, signal)).trim() || undefined,
    }),
    ...(keysPath !== undefined && {
      sshKey: async (signal: AbortSignal) => {
        const answer = await get.any(keysPath, signal);
        if (answer.status === 404) return undefined;
        return (await get.checked(keysPath, answer)).trim() || undefined;
      },
    }),
  };
}

/** Google's: the settings are one attribute of the instance. */
export function instanceMetadataSource(
  options: Common & { readonly SettingsPath: string },
  tools: SourceTools,
): SettingsReader {
  const get = getter("InstanceMetadata", options, undefined, tools);
  return {
    name: `InstanceMetadata ${shownUrl(options.URI + options.SettingsPath)}`,
    read: (signal) => get.text(options.SettingsPath, signal),
  };
}

function getter(type: string, options: Common, tokenPath: string | undefined, tools: SourceTools) {
  const timeoutMs = tools.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS;
  const nameOf = (path: string) => `${type} ${shownUrl(options.URI + path)}`;
  const ask = (
    method: Exchange["method"],
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ) => exchange(nameOf(path), { method, url: options.URI + path, headers, timeoutMs }, tools.clock, signal);

  const any = async (path: string, signal: AbortSignal): Promise<MetadataAnswer> => {
    await tools.ensureNetwork?.(signal);
    const headers = { ...textValues(options.Headers) };
    if (tokenPath !== undefined) {
      const token = await ask("PUT", tokenPath, { ...headers, ...TOKEN_LIFE }, signal);
      // A service of the first version does not know tokens, and does not want them.
      if (token.status === 200) headers[TOKEN_HEADER] = token.body.trim();
    }
    return await ask("GET", path, headers, signal);
  };
  const checked = async (path: string, answer: MetadataAnswer): Promise<string> => {
    if (answer.status >= 200 && answer.status < 300) return answer.body;
    throw SourceFailed({ source: nameOf(path), why: `it answered HTTP ${answer.status}` });
  };
  return {
    any,
    checked,
    text: async (path: string, signal: AbortSignal) => checked(path, await any(path, signal)),
  };
}

const textValues = (headers: JsonObject | null | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]));
