import { createHash } from "node:crypto";
import type { Authority } from "../../pki/authority.ts";

/** Authorities that the clients and servers of NATS trust at this moment. */
export interface NatsTrust {
  /** Authority that signs for the Director and its agents; the servers trust it. */
  readonly authority: Authority;
  /** CA certificates by which the Director and its agents verify the servers, several during a rotation; PEM. */
  readonly serverCa: string;
}

/**
 * Returns the mark stored with a VM once its agent has confirmed this trust. A different mark means that the agent needs an
 * update.
 */
export function trustMark({ authority, serverCa }: NatsTrust): string {
  const believed = certificatesOf(serverCa).map(bare).sort();
  return createHash("sha256")
    .update(JSON.stringify([bare(authority.ca), believed]))
    .digest("hex")
    .slice(0, 32);
}

/** Returns the certificates of a PEM text, without the text between them and without keys. */
export const certificatesOf = (pem: string): readonly string[] =>
  pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

const bare = (pem: string): string => pem.replace(/\s/g, "");
