import { createHash } from "node:crypto";
import type { Authority } from "../../pki/authority.ts";

/** Whom those on the bus believe, at this moment. */
export interface NatsTrust {
  /** Who signs for the Director and its agents; the servers believe it. */
  readonly authority: Authority;
  /** By whom the Director and its agents know the servers: one certificate, or several while one takes over; PEM. */
  readonly serverCa: string;
}

/** What is kept with a VM whose agent has confirmed it. Another one means that the agent is to be told. */
export function trustMark({ authority, serverCa }: NatsTrust): string {
  const believed = certificatesOf(serverCa).map(bare).sort();
  return createHash("sha256")
    .update(JSON.stringify([bare(authority.ca), believed]))
    .digest("hex")
    .slice(0, 32);
}

/** What stands between them, and a key beside them, is left out. */
export const certificatesOf = (pem: string): readonly string[] =>
  pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

const bare = (pem: string): string => pem.replace(/\s/g, "");
