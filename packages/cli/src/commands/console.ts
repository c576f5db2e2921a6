import { join } from "node:path";
import { exists } from "@slipway/kernel/files";
import { info } from "@slipway/protocol/director/info";
import type { Command } from "../command.ts";
import { Missing } from "./errors.ts";

export const consoleLink: Command = {
  name: "console",
  summary: "show the link of the Director's web console, and who may sign in",
  topic: "inspect",
  examples: [["slipway console", "the link, to open in a browser"]],
  async run(_, { ui, director, home }) {
    const [api, { readRunning }] = await Promise.all([director(), import("../up/running.ts")]);
    const { slipway } = await api.json({ method: "GET", path: "/info" }, info);
    if (slipway == null) throw Missing({ what: "console at this Director: it is not one of Slipway" });
    ui.line(consoleUrl(api.url));
    const running = await readRunning(home);
    const password = join(home.director, "admin-password");
    if (running?.reach?.url === api.url && (await exists(password)))
      ui.line(`Sign in as admin with the password in ${password}.`);
    else ui.line("Sign in as a user of the Director.");
    return 0;
  },
};

const consoleUrl = (director: string): string => `${director.replace(/\/$/, "")}/console`;
