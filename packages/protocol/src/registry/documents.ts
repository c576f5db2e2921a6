import * as v from "valibot";
import { open } from "../schema/json.ts";
import { secret } from "../schema/marks.ts";

/** `GET /instances/:id/settings`: the settings are a JSON text inside JSON, decoded twice. */
export const registrySettingsReply = open({
  status: v.literal("ok"),
  settings: secret(v.string()),
});
export type RegistrySettingsReply = v.InferOutput<typeof registrySettingsReply>;

/** Every other reply of the registry. */
export const registryStatusReply = open({
  status: v.picklist(["ok", "error", "access_denied", "not_found"]),
});
export type RegistryStatus = v.InferOutput<typeof registryStatusReply>["status"];

export const REGISTRY_PORT = 25777;
export const REGISTRY_REALM = "Bosh Registry";
export const settingsPath = (instance: string) => `/instances/${encodeURIComponent(instance)}/settings`;
