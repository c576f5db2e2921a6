import * as v from "valibot";
import { updateSettings as updateSettingsDocument } from "../../settings/agent-settings.ts";
import { message, messageArg } from "../message.ts";

export const updateSettings = message({
  name: "update_settings",
  summary: "Trusted certificates, disk associations, bus and blobstores.",
  args: [
    messageArg(
      "settings",
      updateSettingsDocument,
      "replaces certificates and associations; bus and blobstores only when given",
    ),
  ],
  mode: "task",
  result: v.literal("ok"),
  persistent: true,
  upstream: true,
});
