import type { Command } from "../command.ts";
import { globalsOf } from "../parse/globals.ts";

export const logOut: Command = {
  name: "log-out",
  aliases: ["logout"],
  summary: "forget password and tokens of a Director",
  topic: "inspect",
  async run(given, { ui, home, env }) {
    const [{ findSession }, { readLogins, withoutLogin, writeLogins }] = await Promise.all([
      import("../session/session.ts"),
      import("../session/logins.ts"),
    ]);
    const { url } = await findSession(globalsOf(given, env), home);
    await writeLogins(home.loginFile, withoutLogin(await readLogins(home.loginFile), url));
    ui.line(`Logged out from '${url}'`);
    return 0;
  },
};
