import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { ifThere } from "@slipway/kernel/files";
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
  const password = (await ifThere(readFile(path, "utf8")))?.trim();
  if (password === "") throw PasswordUnreadable({ path });
  return password;
}

async function made(path: string, random: Random): Promise<string> {
  const password = random.hex(16);
  await writeFileAtomic(path, `${password}\n`);
  return password;
}
