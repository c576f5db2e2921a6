import { isIP, isIPv6 } from "node:net";
import { isDnsName } from "./authority.ts";
import { NameUnusable } from "./errors.ts";

export interface Served {
  /** Host that the Director listens on. */
  readonly host: string;
  /** Further names and addresses of the configuration. */
  readonly names: readonly string[];
  /** Addresses of this machine's interfaces. */
  readonly addresses: readonly string[];
}

export interface Names {
  readonly dns: readonly string[];
  readonly ips: readonly string[];
}

const ANY = ["0.0.0.0", "::"];

/** Every name and address the Director can be reached by, for its certificate. */
export function servedNames({ host, names, addresses }: Served): Names {
  const all = ANY.includes(host)
    ? ["127.0.0.1", "::1", ...addresses.filter((address) => host === "::" || !isIPv6(address))]
    : ["127.0.0.1", host];
  const wanted = new Set(["localhost", ...all, ...names].map(withoutBrackets));
  const ips = [...wanted].filter((name) => isIP(name) !== 0 && !name.includes("%"));
  const dns = [...wanted].filter((name) => isIP(name) === 0);
  const wrong = dns.find((name) => !isDnsName(name));
  if (wrong !== undefined) throw NameUnusable({ name: wrong });
  return { dns, ips };
}

const withoutBrackets = (name: string): string => name.replace(/^\[(.*)\]$/, "$1");
