import { X509Certificate } from "node:crypto";
import { rename } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { type Authority, DAY_MS } from "./authority.ts";
import { PkiFileFailed } from "./errors.ts";
import { readOwnFile, readPair, writeOwnFile, writePair } from "./pair-file.ts";
import { type Names, servedNames } from "./served-names.ts";
import { beginOf, endOf } from "./sign.ts";

export interface DirectorCertificateOptions {
  readonly authority: Authority;
  readonly dir: string;
  readonly clock: Clock;
  /** Host that the API listens on. */
  readonly host: string;
  /** `listen.names` of the configuration. */
  readonly names: readonly string[];
  /** Addresses of this machine; those of its interfaces when not given. */
  readonly addresses?: readonly string[];
  readonly warn: (line: string) => void;
}

export interface DirectorCertificate {
  /** PEM, for the server. */
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
  /** Files: key and certificate in one; the authority's certificate, for `bosh --ca-cert`. */
  readonly paths: { readonly pair: string; readonly ca: string };
  readonly until: number;
}

const DAYS = 397;
const RENEW_BEFORE_MS = 30 * DAY_MS;

/** Returns the API's certificate: kept while it covers every name served and does not end soon, else reissued. */
export async function directorCertificate(options: DirectorCertificateOptions): Promise<DirectorCertificate> {
  const { authority, dir, clock, warn } = options;
  const names = servedNames({ ...options, addresses: options.addresses ?? interfaceAddresses() });
  const paths = { pair: join(dir, "director.pem"), ca: join(dir, "ca.crt") };
  const result = (key: string, cert: string, until: number) => ({
    key,
    cert,
    ca: authority.ca,
    paths,
    until,
  });

  if ((await readOwnFile(paths.ca)) !== authority.ca) await writeOwnFile(paths.ca, authority.ca, 0o644);
  const found = await readPair(paths.pair);
  if (found.kind === "pair" && stillGood(found.parsed, authority, names, clock.now()))
    return result(found.pair.privateKey, found.pair.certificate, endOf(found.parsed));
  if (found.kind === "torn") {
    const aside = `${paths.pair}.torn-${clock.now()}`;
    await rename(paths.pair, aside).catch((cause: unknown) => {
      throw PkiFileFailed({ doing: "setting aside", path: paths.pair }, { cause });
    });
    warn(
      `the API's certificate ${paths.pair} was damaged: ${found.why}; kept as ${aside}, a new one is made`,
    );
  }
  const issued = await authority.issue({
    commonName: "slipway director",
    sans: names,
    usage: "server",
    days: DAYS,
  });
  await writePair(paths.pair, issued);
  return result(issued.privateKey, issued.certificate, issued.until);
}

function stillGood(certificate: X509Certificate, authority: Authority, names: Names, now: number): boolean {
  return (
    // One that was issued while the clock was ahead is not valid yet.
    beginOf(certificate) <= now &&
    endOf(certificate) - now > RENEW_BEFORE_MS &&
    certificate.verify(new X509Certificate(authority.ca).publicKey) &&
    names.dns.every((name) => certificate.checkHost(name) !== undefined) &&
    names.ips.every((ip) => certificate.checkIP(ip) !== undefined)
  );
}

const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter((one) => !one.scopeid).map((one) => one.address),
  );
