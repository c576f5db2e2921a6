import * as v from "valibot";
import { kindOf } from "../schema/check.ts";
import { open } from "../schema/json.ts";
import { doc, secret } from "../schema/marks.ts";
import { checkWithoutNulls } from "../schema/without-nulls.ts";
import { type AgentSettings, agentSettings } from "./agent-settings.ts";
import { networks } from "./networks.ts";

/** User-data of a VM whose agent fetches its settings from the registry. */
export const registryUserData = open({
  server: v.nullish(
    open({ name: v.nullish(doc(v.string(), "registry key, for agents that use the server name")) }),
  ),
  registry: open({
    endpoint: doc(secret(v.string()), "URL with credentials, or a file path"),
    user: v.nullish(doc(v.string(), "of the first design's sample; others ignore it")),
    password: v.nullish(doc(secret(v.string()), "beside `user`")),
  }),
  dns: v.nullish(open({ nameserver: v.nullish(v.array(v.string())) })),
  networks: v.nullish(networks),
});
export type RegistryUserData = v.InferOutput<typeof registryUserData>;

/** User-data that is complete: the agent settings themselves. */
export const settingsUserData = agentSettings;

export type UserData =
  | { readonly form: "settings"; readonly settings: AgentSettings }
  | { readonly form: "registry"; readonly userData: RegistryUserData };

export type ParsedUserData =
  | { readonly ok: true; readonly userData: UserData }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Complete settings if an agent id is there; otherwise it must lead to a registry. */
export function readUserData(value: unknown): ParsedUserData {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, problems: [`user-data is an object, got ${kindOf(value)}`] };
  }
  const id = (value as { agent_id?: unknown }).agent_id;
  if (id !== undefined && id !== null && id !== "") {
    const checked = checkWithoutNulls(settingsUserData, value, "user-data");
    return checked.ok ? { ok: true, userData: { form: "settings", settings: checked.value } } : checked;
  }
  const checked = checkWithoutNulls(registryUserData, value, "user-data");
  if (checked.ok) return { ok: true, userData: { form: "registry", userData: checked.value } };
  return {
    ok: false,
    problems: ["user-data has neither an agent_id nor a registry endpoint", ...checked.problems],
  };
}

/** Metadata services serve user-data as JSON, or as URL-safe base64 without padding, sometimes in quotes. */
export function userDataJson(source: string): string | undefined {
  const texts = [source, decodeBase64Url(source.replaceAll('"', "").trim())];
  return texts.find((text) => tryJson(text) !== undefined);
}

export function parseUserData(source: string): ParsedUserData {
  const text = userDataJson(source);
  return text === undefined ? NOT_JSON : readUserData(tryJson(text));
}

export const NOT_JSON = {
  ok: false,
  problems: ["user-data is neither JSON nor URL-safe base64 of JSON"],
} as const satisfies ParsedUserData;

export const encodeUserData = (value: UserData): string =>
  JSON.stringify(value.form === "settings" ? value.settings : value.userData);

function decodeBase64Url(text: string): string {
  // One character beyond whole groups holds six bits: no byte, and `atob` throws.
  if (!/^[\w-]+$/.test(text) || text.length % 4 === 1) return "";
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

function tryJson(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
