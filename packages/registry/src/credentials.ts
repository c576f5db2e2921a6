import { createHash, timingSafeEqual } from "node:crypto";
import { BadUsers } from "./errors.ts";

export interface User {
  readonly username: string;
  readonly password: string;
}

export type CredentialVerdict = "valid" | "wrong" | "missing";

/** Judges an Authorization header. Every user is compared every time, so that time does not tell who came close. */
export function credentialCheck(users: readonly User[]): (header: string | undefined) => CredentialVerdict {
  if (users.length === 0) throw BadUsers({ why: "there are none" });
  const known = users.map(({ username, password }) => {
    if (username === "") throw BadUsers({ why: "a name is empty" });
    // Basic auth joins both with a colon: "a:b" + "c" would be the same login as "a" + "b:c".
    if (username.includes(":")) throw BadUsers({ why: "a name contains a colon" });
    if (password === "") throw BadUsers({ why: "a password is empty" });
    return digest(Buffer.from(`${username}:${password}`));
  });
  return (header) => {
    if (header === undefined) return "missing";
    const given = digest(Buffer.from(/^basic +(\S+)\s*$/i.exec(header)?.[1] ?? "", "base64"));
    let valid = false;
    for (const one of known) valid = timingSafeEqual(one, given) || valid;
    return valid ? "valid" : "wrong";
  };
}

const digest = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();
