import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { ApiUser } from "../api/services.ts";
import { PasswordUnreadable } from "./errors.ts";

export interface Users {
  readonly users: readonly ApiUser[];
  readonly admin: { readonly name: string; readonly passwordFile: string } | undefined;
}

/** The configured ones, or `admin` with a password made at the first start. */
export async function openUsers(
  configured: DirectorConfig["users"],
  stateDir: string,
  random: Random,
): Promise<Users> {
  if (configured !== undefined && configured.length > 0) return { users: configured, admin: undefined };
  const passwordFile = join(stateDir, "admin-password");
  const password = (await kept(passwordFile)) ?? (await made(passwordFile, random));
  return { users: [{ name: "admin", password }], admin: { name: "admin", passwordFile } };
}

async function kept(path: string): Promise<string | undefined> {
  try {
    const password = (await readFile(path, "utf8")).trim();
    if (password === "") throw PasswordUnreadable({ path });
    return password;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function made(path: string, random: Random): Promise<string> {
  const password = random.hex(16);
  await writeFileAtomic(path, `${password}\n`);
  return password;
}
