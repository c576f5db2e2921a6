import type { Action } from "./action.ts";

/** Upstream answers the version only; where the settings came from is ours and ignored by others. */
export const info: Action<"info"> = async (_, { services }) => ({
  api_version: 1,
  settings_origin: services.settings.origin(),
  platform: services.platform.name,
});
