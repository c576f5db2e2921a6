import { typedConfig } from "@slipway/protocol/director/config";
import * as v from "valibot";
import type { Command } from "../command.ts";
import { Missing } from "./errors.ts";

export const cloudConfig: Command = {
  name: "cloud-config",
  aliases: ["cc"],
  summary: "print the cloud config",
  topic: "configuration",
  options: [{ flags: "--name <name>", about: "of the config (default)" }],
  async run(given, { ui, director }) {
    const api = await director();
    const name = given.text("name") ?? "";
    const [latest] = await api.json(
      { method: "GET", path: "/cloud_configs", query: { limit: "1", name } },
      v.array(typedConfig),
    );
    if (latest === undefined) throw Missing({ what: `cloud config${name === "" ? "" : ` '${name}'`}` });
    ui.block(latest.properties);
    return 0;
  },
};
