import { createPrivateKey, X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { parseAddress } from "@slipway/kernel/ip-address";
import type { Random } from "@slipway/kernel/random";
import { AuthorityEnded, AuthorityUnreadable, GivenAuthorityUnusable, NameUnusable } from "./errors.ts";
import { type Pair, readPair, writePair } from "./pair-file.ts";
import { beginOf, canSign, endOf, sign } from "./sign.ts";

export interface CertificateRequest {
  /** Subject before the common name: Slipway's own, or upstream's `C=USA, O=Cloud Foundry`. Default: Slipway's. */
  readonly subject?: "slipway" | "bosh";
  readonly commonName: string;
  readonly sans: { readonly dns: readonly string[]; readonly ips: readonly string[] };
  readonly usage: "server" | "client";
  readonly days: number;
}

/** PEM; the key is PKCS#8. `until` in milliseconds since 1970. */
export interface Issued extends Pair {
  readonly ca: string;
  readonly until: number;
}

/** Signs certificates for the Director: its own server certificate, those of its agents, and the one it calls them with. */
export interface Authority {
  /** The authority's certificate, PEM. */
  readonly ca: string;
  /** In milliseconds since 1970. Nothing that it signs lasts longer. */
  readonly ends: number;
  issue(request: CertificateRequest): Promise<Issued>;
}

export interface AuthorityOptions {
  /** A directory of the state directory; made when it is missing. */
  readonly dir: string;
  readonly clock: Clock;
  readonly random: Random;
}

export const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
/** The clock of a VM that has just booted may be behind. */
const BACKDATED_MS = DAY_MS;

const fileIn = (dir: string) => join(dir, "authority.pem");

/**
 * The authority of a state directory, made at the first start. A damaged one is an error and stays where it is: agents
 * in the field trust it, and a new one would lock the Director out of all of them.
 */
export async function openAuthority(options: AuthorityOptions): Promise<Authority> {
  const { dir, clock } = options;
  const path = fileIn(dir);
  const found = await readPair(path);
  if (found.kind === "torn") throw AuthorityUnreadable({ path, why: found.why });
  if (found.kind === "missing") {
    const made = await makeAuthority(options);
    await writePair(path, made);
    return authorityOf(made, options, clock.now() + AUTHORITY_DAYS * DAY_MS);
  }
  const { parsed, pair } = found;
  if (!parsed.ca) throw AuthorityUnreadable({ path, why: "its certificate is not that of an authority" });
  if (!canSign(createPrivateKey(pair.privateKey)))
    throw AuthorityUnreadable({ path, why: "its key is neither RSA nor of a curve that we sign with" });
  const now = clock.now();
  if (endOf(parsed) <= now || beginOf(parsed) > now)
    throw AuthorityEnded({ path, ended: new Date(endOf(parsed)).toISOString() });
  return authorityOf(pair, options, endOf(parsed));
}

/** Opens an authority made elsewhere. `where` names it to the operator. */
export function givenAuthority(
  given: Pair & { readonly where: string },
  options: Pick<AuthorityOptions, "clock" | "random">,
): Authority {
  const { where: path, certificate, privateKey } = given;
  const { parsed, why } = readGiven(certificate, privateKey);
  if (parsed === undefined) throw GivenAuthorityUnusable({ where: path, why });
  const now = options.clock.now();
  if (endOf(parsed) <= now || beginOf(parsed) > now)
    throw GivenAuthorityUnusable({ where: path, why: `it is not valid now, and ends ${parsed.validTo}` });
  // A file may hold more than the one certificate, or the key beside it.
  return authorityOf({ certificate: parsed.toString(), privateKey }, options, endOf(parsed));
}

function readGiven(certificate: string, privateKey: string): { parsed?: X509Certificate; why: string } {
  try {
    const parsed = new X509Certificate(certificate);
    const key = createPrivateKey(privateKey);
    if (!parsed.ca) return { why: "its certificate is not that of an authority" };
    if (!canSign(key)) return { why: "its key is neither RSA nor EC" };
    if (!parsed.checkPrivateKey(key)) return { why: "its key and its certificate do not belong together" };
    return { parsed, why: "" };
  } catch {
    return { why: "its certificate or its key cannot be decoded" };
  }
}

function makeAuthority({ clock, random }: AuthorityOptions): Promise<Pair> {
  const now = clock.now();
  // Two authorities of one name confuse clients that know both, such as a laptop with several Directors.
  const commonName = `slipway authority ${random.hex(4)}`;
  return sign(
    {
      subject: { words: "slipway", commonName, dns: [], ips: [] },
      usage: "authority",
      from: now - BACKDATED_MS,
      until: now + AUTHORITY_DAYS * DAY_MS,
    },
    undefined,
    random,
  );
}

const authorityOf = (
  own: Pair,
  { clock, random }: Pick<AuthorityOptions, "clock" | "random">,
  ends: number,
): Authority => ({
  ca: own.certificate,
  ends,
  issue: async ({ subject: words = "slipway", commonName, sans, usage, days }) => {
    const wrong = [
      ...sans.dns.filter((name) => !isDnsName(name)),
      ...sans.ips.filter((ip) => parseAddress(ip) === undefined),
    ];
    if (wrong[0] !== undefined) throw NameUnusable({ name: wrong[0] });
    const now = clock.now();
    // Certificates know whole seconds only.
    const until = Math.floor(Math.min(now + days * DAY_MS, ends) / 1000) * 1000;
    const order = { subject: { words, commonName, ...sans }, usage, from: now - BACKDATED_MS, until };
    return { ...(await sign(order, own, random)), ca: own.certificate, until };
  },
});

/** A host name; also an agent id, which need not be one in the strict sense. */
export const isDnsName = (name: string): boolean => /^[a-z0-9_]([a-z0-9._-]{0,251}[a-z0-9_])?$/i.test(name);
