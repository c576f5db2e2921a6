import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { DirectorCertificate } from "@slipway/engine/pki/director-certificate";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { defineError } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { ApiUser } from "../api/services.ts";
import { certificateOf } from "../variables/open.ts";

/** Loopback is no VM's, but where VMs are processes they share it with the Director. */
export function ownAddresses(host: string): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
  return [...new Set(host === "0.0.0.0" || host === "::" ? all : [...all, host])];
}

/** Returns the host as it stands in a URL. */
export const shownHost = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;

export const ApiCertificateUnusable = defineError<{ why: string }>({
  code: "DIR-006",
  kind: "operator",
  message: (p) => `listen.certificate and listen.private_key of the configuration cannot be used: ${p.why}`,
  next: "Give the API's certificate, followed by those up to its authority, and its key; or neither, and the Director makes its own.",
});

type Listen = NonNullable<DirectorConfig["listen"]>;

/** Returns the API's certificate of the configuration, read again each time; undefined if it has none. */
export async function configuredCertificate(
  { certificate, private_key: privateKey, ca }: Listen,
  now: number,
): Promise<
  (Pick<DirectorCertificate, "cert" | "key" | "until"> & { readonly ca: string | undefined }) | undefined
> {
  if (certificate === undefined && privateKey === undefined) return undefined;
  const cert = await certificateOf("listen.certificate", certificate);
  const key = await certificateOf("listen.private_key", privateKey);
  const unusable = (why: string) => ApiCertificateUnusable({ why });
  if (cert === undefined) throw unusable("there is a private_key and no certificate");
  if (key === undefined) throw unusable("there is a certificate and no private_key");
  const parsed = decodedCertificate(cert, key);
  if (typeof parsed === "string") throw unusable(parsed);
  const until = Date.parse(parsed.validTo);
  if (until <= now) throw unusable(`the certificate has ended on ${parsed.validTo}`);
  return { cert, key, until, ca: await certificateOf("listen.ca", ca) };
}

function decodedCertificate(cert: string, key: string): X509Certificate | string {
  try {
    const parsed = new X509Certificate(cert);
    if (parsed.checkPrivateKey(createPrivateKey(key))) return parsed;
    return "the certificate, the first one where there are several, and the key do not belong together";
  } catch {
    return "the certificate or its key cannot be decoded";
  }
}

/** Returns the configured certificate, or else the one that the Director makes. Writes the configured authority to a file. */
export async function apiCertificate(
  own: DirectorCertificate,
  listen: Listen,
  pkiDir: string,
  now: number,
): Promise<DirectorCertificate> {
  const given = await configuredCertificate(listen, now);
  if (given === undefined) return own;
  const { ca, ...pair } = given;
  const path = join(pkiDir, "api-ca.crt");
  if (ca !== undefined) await writeFileAtomic(path, ca, 0o644);
  const paths = { pair: "listen.certificate", ca: ca === undefined ? own.paths.ca : path };
  return { ...own, ...pair, paths };
}

const DAY_MS = 86_400_000;

/** Returns the entry of `GET /director/certificate_expiry`. */
export const expiryOf = ({ paths, until }: DirectorCertificate, now: number) => ({
  certificate_path: paths.pair,
  expiry: new Date(until).toISOString(),
  days_left: Math.floor((until - now) / DAY_MS),
});

export const PasswordUnreadable = defineError<{ path: string }>({
  code: "DIR-004",
  kind: "operator",
  message: (p) => `the file ${p.path} should hold the password of the user admin and is empty`,
  next: "Write a password into it, or remove it to have a new one generated.",
});

interface Users {
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
  const password = (await keptPassword(passwordFile)) ?? (await makePassword(passwordFile, random));
  return { users: [{ name: "admin", password }], admin: { name: "admin", passwordFile } };
}

async function keptPassword(path: string): Promise<string | undefined> {
  const password = (await ifThere(readFile(path, "utf8")))?.trim();
  if (password === "") throw PasswordUnreadable({ path });
  return password;
}

async function makePassword(path: string, random: Random): Promise<string> {
  const password = random.hex(16);
  await writeFileAtomic(path, `${password}\n`);
  return password;
}
