import type { Command } from "../command.ts";

/** Ours: upstream's Director is configured by a job's properties. */
export const configCheck: Command = {
  name: "config check",
  summary: "say what is wrong with a Director's configuration file, all of it at once",
  topic: "documents",
  arguments: [
    { name: "<file>", about: "YAML (.yml) or JSON; files that it names are read, nobody is asked" },
  ],
  examples: [["slipway config check director.yml", "ends with 1 when something is wrong"]],
  async run(given, { ui }) {
    const { readConfig } = await import("@slipway/director/start/configuration");
    const path = given.argument(0) ?? "";
    await readConfig(path);
    ui.line(`${path}: nothing is wrong`);
    return 0;
  },
};
