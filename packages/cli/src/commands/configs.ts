import { config } from "@slipway/protocol/director/config";
import * as v from "valibot";
import type { Command } from "../command.ts";
import { configOptions } from "../configs/which-config.ts";
import { BadArgument } from "../parse/errors.ts";

export const configs: Command = {
  name: "configs",
  aliases: ["cs"],
  summary: "list configs",
  topic: "configuration",
  options: [...configOptions, { flags: "-r, --recent <number>", about: "how many versions of each (1)" }],
  examples: [["slipway configs --type cloud", ""]],
  async run(given, { ui, director }) {
    const recent = given.text("recent") ?? "1";
    if (!/^\d{1,6}$/.test(recent)) throw BadArgument({ given: recent, what: "a number of versions" });
    const many = Number(recent) > 1;
    const api = await director();
    const query = {
      latest: many ? "false" : "true",
      limit: many ? recent : "1",
      type: given.text("type"),
      name: given.text("name"),
    };
    const all = await api.json({ method: "GET", path: "/configs", query }, v.array(config));
    ui.table({
      content: "configs",
      header: { id: "ID", type: "Type", name: "Name", team: "Team", created_at: "Created At" },
      rows: all.map((one) => [
        one.current === true ? `${one.id}*` : one.id,
        one.type,
        one.name,
        one.team ?? "",
        one.created_at ?? "",
      ]),
      notes: [
        ...(all.some(({ current }) => current === true) ? ["(*) Currently active"] : []),
        ...(many ? [] : ["Only showing active configs. To see older versions use the --recent=10 option."]),
      ],
    });
    return 0;
  },
};
