import { config as configEntry } from "@slipway/protocol/director/config";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { refusalOf } from "../api/refusal.ts";
import { pathSegment } from "../api/request-path.ts";
import type { Command } from "../command.ts";
import { configOptions, type WhichConfig, whichConfig } from "../configs/which-config.ts";
import { fieldsTable } from "../ui/fields-table.ts";
import { Missing } from "./errors.ts";

export const config: Command = {
  name: "config",
  aliases: ["c"],
  summary: "show a config",
  topic: "configuration",
  arguments: [{ name: "[id]", about: "of the config; or --type and --name" }],
  options: configOptions,
  examples: [
    ["slipway config 3", "by its id"],
    ["slipway config --type cloud --name default", ""],
  ],
  async run(given, { ui, director }) {
    const which = whichConfig(given);
    const found = await find(await director(), which);
    if (found === undefined)
      throw Missing({
        what:
          which.id === undefined ? `config '${which.type}/${which.name}'` : `config with the id ${which.id}`,
      });
    const table = fieldsTable("config", [
      ["id", "ID", found.id],
      ["type", "Type", found.type],
      ["name", "Name", found.name],
      ["created_at", "Created At", found.created_at ?? ""],
      ["content", "Content", found.content ?? ""],
    ]);
    ui.table({ ...table, notes: [] });
    return 0;
  },
};

async function find(api: DirectorApi, which: WhichConfig) {
  if (which.id === undefined) {
    const query = { latest: "true", limit: "1", name: which.name, type: which.type };
    return (await api.json({ method: "GET", path: "/configs", query }, v.array(configEntry)))[0];
  }
  try {
    return await api.json({ method: "GET", path: `/configs/${pathSegment(which.id)}` }, configEntry);
  } catch (error) {
    if (refusalOf(error)?.status === 404) return undefined;
    throw error;
  }
}
