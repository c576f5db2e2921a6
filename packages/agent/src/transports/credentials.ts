import { createHash, timingSafeEqual } from "node:crypto";
import { createSecureContext } from "node:tls";
import { BadBusCertificate, BusUrlInvalid } from "./errors.ts";
import type { TransportCredentials } from "./transport.ts";

/** An agent without a usable pair of its own cannot be reached; better said at the start than at every handshake. */
export function checkPair(credentials: TransportCredentials): void {
  const { certificate, privateKey, ca } = credentials;
  if (certificate.trim() === "") throw BadBusCertificate({ why: "there is no certificate" });
  if (privateKey.trim() === "") throw BadBusCertificate({ why: "there is no private key" });
  try {
    createSecureContext({ cert: certificate, key: privateKey, ...trust(ca) });
  } catch (cause) {
    // The cause speaks of the form of the PEM text, never of its content.
    throw BadBusCertificate({ why: cause instanceof Error ? cause.message : "it cannot be read" }, { cause });
  }
}

/** Nothing given means the system's roots, which is what Node takes when the option is missing. */
export const trust = (ca: string): { ca?: string } => (ca.trim() === "" ? {} : { ca });

/** Judges an Authorization header. Digests are compared, so that the time tells neither content nor length. */
export function basicAuth(user: string, password: string): (header: string | undefined) => boolean {
  const expected = digest(`Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`);
  return (header) => timingSafeEqual(expected, digest(header ?? ""));
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** A name or password as a URL holds it. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw BusUrlInvalid({ why: "its user or password is not percent-encoded correctly" });
  }
}
