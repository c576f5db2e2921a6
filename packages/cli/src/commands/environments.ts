import type { Command } from "../command.ts";
import { readLogins } from "../session/logins.ts";

export const environments: Command = {
  name: "environments",
  aliases: ["envs"],
  summary: "list remembered Directors",
  topic: "inspect",
  async run(_given, { ui, home }) {
    const logins = await readLogins(home.loginFile);
    ui.table({
      content: "environments",
      header: { url: "URL", alias: "Alias" },
      rows: logins.environments.map(({ url, alias }) => [url, alias ?? ""]),
    });
    return 0;
  },
};
