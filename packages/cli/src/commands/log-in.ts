import type { Command } from "../command.ts";
import { globalsOf } from "../parse/globals.ts";

export const logIn: Command = {
  name: "log-in",
  aliases: ["l", "login"],
  summary: "remember name and password of a Director",
  topic: "inspect",
  examples: [["slipway -e lab log-in", "asks for name and password"]],
  async run(given, tools) {
    const [{ authenticate }, { findSession }, { readLogins, withLogin, writeLogins }] = await Promise.all([
      import("../session/authenticate.ts"),
      import("../session/session.ts"),
      import("../session/logins.ts"),
    ]);
    const { ui, home, env } = tools;
    const asked = globalsOf(given, env);
    const session = await findSession(asked, home);
    const { user, password } = await authenticate(session, asked, tools);
    const { url, ca } = session;
    const login = { url, user, password, ...(ca === undefined ? {} : { ca_cert: ca }) };
    await writeLogins(home.loginFile, withLogin(await readLogins(home.loginFile), login, true));
    ui.line(`Logged in to '${url}' as '${user}'. Commands that name no environment go there now.`);
    return 0;
  },
};
