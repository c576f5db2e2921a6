import { type Exec, mustRun } from "@slipway/kernel/exec";
import { InvalidSecret } from "../../system-errors.ts";
import { checkUserName } from "./accounts.ts";

/**
 * Upstream calls `usermod -p`, which shows the hash to every user of the machine as an argument; `chpasswd` takes it
 * on its standard input. An empty hash locks the password.
 */
export async function setPassword(exec: Exec, user: string, cryptHash: string): Promise<void> {
  checkUserName(user, "a password");
  const hash = cryptHash === "" ? "*" : cryptHash;
  // A colon or line end would make two fields or two users of it.
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(hash)) throw InvalidSecret({ what: `the password hash of ${user}` });
  await mustRun(exec, `setting the password of ${user}`, "chpasswd", ["-e"], { input: `${user}:${hash}\n` });
}
