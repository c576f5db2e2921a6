import { readFile } from "node:fs/promises";
import { systemCode } from "@slipway/kernel/errors";
import type { Given } from "../command.ts";
import { NoPassphrase, PassphraseUnreadable } from "./errors.ts";

const VARIABLE = "SLIPWAY_BACKUP_PASSPHRASE";

/** From a file or the environment: what is typed as an argument, every process of the machine can read. */
export async function passphraseOf(
  given: Given,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const path = given.text("passphrase-file");
  if (path === undefined) {
    const text = env[VARIABLE];
    if (text === "") throw NoPassphrase({ where: VARIABLE });
    return text;
  }
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw PassphraseUnreadable({ path, why: systemCode(cause) ?? "unknown reason" }, { cause });
  });
  const phrase = text.replace(/\r?\n$/, "");
  if (phrase === "") throw NoPassphrase({ where: path });
  return phrase;
}
