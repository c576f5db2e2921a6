import type { Command } from "../command.ts";
import { globalsOf } from "../parse/globals.ts";

export const logIn: Command = {
  name: "log-in",
  aliases: ["l", "login"],
  summary: "remember who you are for a Director: a password, or tokens of its UAA",
  topic: "inspect",
  examples: [
    ["slipway -e lab log-in", "asks for name and password, or what the Director's UAA asks for"],
    ["slipway -e lab log-in --client ci", "a client of the UAA; asks for its secret"],
  ],
  async run(given, tools) {
    const [{ authenticate }, { findSession }, { readLogins, withLogin, withoutLogin, writeLogins }] =
      await Promise.all([
        import("../session/authenticate.ts"),
        import("../session/session.ts"),
        import("../session/logins.ts"),
      ]);
    const { ui, home, env } = tools;
    const asked = globalsOf(given, env);
    const session = await findSession(asked, home);
    const credentials = await authenticate(session, asked, tools);
    const { url, ca } = session;
    const login = { url, ...credentials, ...(ca === undefined ? {} : { ca_cert: ca }) };
    // Nothing of who was logged in before.
    const before = withoutLogin(await readLogins(home.loginFile), url);
    await writeLogins(home.loginFile, withLogin(before, login, true));
    ui.line(
      `Logged in to '${url}' as '${credentials.user}'. Commands that name no environment go there now.`,
    );
    return 0;
  },
};
