import type { Command } from "../command.ts";
import { NoSuchAlias } from "../session/errors.ts";

export const unaliasEnv: Command = {
  name: "unalias-env",
  summary: "forget the name of a Director; who is logged in stays so",
  topic: "inspect",
  arguments: [{ name: "<alias>", about: "as `alias-env` was given it" }],
  examples: [["slipway unalias-env lab", ""]],
  async run(given, { home }) {
    const alias = given.argument(0) ?? "";
    const { readLogins, withoutAlias, writeLogins } = await import("../session/logins.ts");
    const logins = await readLogins(home.loginFile);
    if (!logins.environments.some((one) => one.alias === alias)) throw NoSuchAlias({ alias });
    await writeLogins(home.loginFile, withoutAlias(logins, alias));
    return 0;
  },
};
