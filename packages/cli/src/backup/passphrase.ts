import { readFile } from "node:fs/promises";
import { defineError, systemCode } from "@slipway/kernel/errors";
import type { TypedInput } from "../command.ts";

const VARIABLE = "SLIPWAY_BACKUP_PASSPHRASE";

/** From a file or the environment: what is typed as an argument, every process of the machine can read. */
export async function passphraseOf(
  given: TypedInput,
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

export const NoPassphrase = defineError<{ where: string }>({
  code: "CLK-001",
  kind: "operator",
  typed: true,
  message: (p) => `there is no passphrase in ${p.where}`,
  next: "Write one into it, a single line. Without a passphrase, leave the option out: the backup is then not encrypted.",
});

export const PassphraseUnreadable = defineError<{ path: string; why: string }>({
  code: "CLK-002",
  kind: "operator",
  message: (p) => `the passphrase file ${p.path} cannot be read: ${p.why}`,
  next: "Name a file that this user may read with --passphrase-file.",
});
