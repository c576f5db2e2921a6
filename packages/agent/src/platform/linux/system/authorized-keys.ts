import { chmod, chown, lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "@slipway/kernel/errors";
import type { Paths } from "../../../paths.ts";
import { UnsafePath } from "../../system-errors.ts";
import { accountOf, checkUserName } from "./accounts.ts";
import { type Owner, replaceFile } from "./replace-file.ts";

/** Replaces all keys of a user. */
export async function setAuthorizedKeys(paths: Paths, user: string, keys: readonly string[]): Promise<void> {
  checkUserName(user, "authorized keys");
  const account = await accountOf(paths, user);
  const directory = join(paths.system(account.home), ".ssh");
  await ensureOwnDirectory(directory, account);
  const lines = keys.flatMap((key) => key.split(/\r?\n/)).map((key) => key.trim());
  const content = lines.filter((key) => key !== "").map((key) => `${key}\n`);
  await replaceFile(join(directory, "authorized_keys"), content.join(""), 0o600, account);
}

/** The user owns the parent, and could have put a link there that leads root elsewhere. */
async function ensureOwnDirectory(directory: string, owner: Owner): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
  if (!(await lstat(directory)).isDirectory())
    throw UnsafePath({ path: directory, why: "it is no directory" });
  await chown(directory, owner.uid, owner.gid);
  await chmod(directory, 0o700);
}
