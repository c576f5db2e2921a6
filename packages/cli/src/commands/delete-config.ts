import { refusalOf } from "../api/refusal.ts";
import { pathSegment } from "../api/request-path.ts";
import type { Command } from "../command.ts";
import { configOptions, whichConfig } from "../configs/which-config.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";

export const deleteConfig: Command = {
  name: "delete-config",
  aliases: ["dc"],
  summary: "delete a config",
  topic: "configuration",
  arguments: [{ name: "[id]", about: "of the config; or --type and --name" }],
  options: configOptions,
  examples: [["slipway delete-config --type runtime --name default", ""]],
  async run(given, { ui, director }) {
    const which = whichConfig(given);
    const api = await director();
    await requireConfirmation(ui);
    try {
      await api.text(
        which.id === undefined
          ? { method: "DELETE", path: "/configs", query: { name: which.name, type: which.type } }
          : { method: "DELETE", path: `/configs/${pathSegment(which.id)}` },
      );
    } catch (error) {
      if (refusalOf(error)?.status !== 404) throw error;
      const sought =
        which.id === undefined ? `type '${which.type}' and name '${which.name}'` : `id '${which.id}'`;
      ui.line(`No configs to delete: no matches for ${sought} found.`);
    }
    return 0;
  },
};
