import { infoTable } from "../api/info-table.ts";
import type { Command } from "../command.ts";
import { BadArgument } from "../parse/errors.ts";
import { globalsOf } from "../parse/globals.ts";

export const aliasEnv: Command = {
  name: "alias-env",
  summary: "remember a Director's URL and authority under a name",
  topic: "inspect",
  arguments: [{ name: "<alias>", about: "to be used as -e ALIAS" }],
  examples: [
    ["slipway -e https://10.0.0.6:25555 --ca-cert ca.pem alias-env lab", "then: slipway -e lab ..."],
  ],
  async run(given, tools) {
    const alias = given.argument(0) ?? "";
    if (!/^[\w.-]+$/.test(alias)) throw BadArgument({ given: alias, what: "a name: letters, digits, _ . -" });
    const [{ infoFor }, { findSession }, { readLogins, withLogin, writeLogins }] = await Promise.all([
      import("../session/authenticate.ts"),
      import("../session/session.ts"),
      import("../session/logins.ts"),
    ]);
    const { ui, home, env } = tools;
    const session = await findSession(globalsOf(given, env), home);
    const info = await infoFor(session, tools);
    const { url, ca } = session;
    const known = { url, alias, ...(ca === undefined ? {} : { ca_cert: ca }) };
    await writeLogins(home.loginFile, withLogin(await readLogins(home.loginFile), known, false));
    ui.table(infoTable(info));
    return 0;
  },
};
