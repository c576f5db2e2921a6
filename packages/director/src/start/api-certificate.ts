import { createPrivateKey, X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { DirectorCertificate } from "@slipway/engine/pki/director-certificate";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { certificateOf } from "../variables/open.ts";
import { ApiCertificateUnusable } from "./errors.ts";

type Listen = NonNullable<DirectorConfig["listen"]>;

/** Returns the API's certificate of the configuration, read again each time; undefined if it has none. */
export async function givenCertificate(
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
  const parsed = decoded(cert, key);
  if (typeof parsed === "string") throw unusable(parsed);
  const until = Date.parse(parsed.validTo);
  if (until <= now) throw unusable(`the certificate has ended on ${parsed.validTo}`);
  return { cert, key, until, ca: await certificateOf("listen.ca", ca) };
}

function decoded(cert: string, key: string): X509Certificate | string {
  try {
    const parsed = new X509Certificate(cert);
    if (parsed.checkPrivateKey(createPrivateKey(key))) return parsed;
    return "the certificate, the first one where there are several, and the key do not belong together";
  } catch {
    return "the certificate or its key cannot be decoded";
  }
}

/** Returns the configured certificate, or else the one that the Director makes. Writes the configured authority to a file. */
export async function instead(
  own: DirectorCertificate,
  listen: Listen,
  pkiDir: string,
  now: number,
): Promise<DirectorCertificate> {
  const given = await givenCertificate(listen, now);
  if (given === undefined) return own;
  const { ca, ...pair } = given;
  const path = join(pkiDir, "api-ca.crt");
  if (ca !== undefined) await writeFileAtomic(path, ca, 0o644);
  const paths = { pair: "listen.certificate", ca: ca === undefined ? own.paths.ca : path };
  return { ...own, ...pair, paths };
}
