import { BITS, networkOf, parseAddress, sameAddress } from "../ip-address.ts";
import { hostOf, portOf } from "./wire.ts";

/** Proxies for requests. Addresses may hold a name and a password. */
export interface ProxySettings {
  /** For addresses that begin with http://. */
  readonly http?: string | undefined;
  /** For those that begin with https://. */
  readonly https?: string | undefined;
  /** Names and addresses that are asked directly: `host`, `.domain`, `host:port`, `10.0.0.0/8`, `*`. */
  readonly noProxy?: string | undefined;
}

/** Reads the usual environment variables: those in small letters, or else those in capitals. */
export function proxiesIn(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  const of = (name: string) => env[name] || env[name.toUpperCase()] || undefined;
  return { http: of("http_proxy"), https: of("https_proxy"), noProxy: of("no_proxy") };
}

/** The proxy for an address; undefined: it is asked directly. This machine always is. */
export function proxyFor(url: URL, { http, https, noProxy = "" }: ProxySettings): URL | undefined {
  const given = (url.protocol === "https:" ? https : http) ?? "";
  const text = given === "" || given.includes("://") ? given : `http://${given}`;
  if (text === "" || !URL.canParse(text)) return undefined;
  const host = hostOf(url).toLowerCase();
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1" || host.startsWith("127."))
    return undefined;
  return isNamedIn(noProxy, url) ? undefined : new URL(text);
}

/** Tells whether a list like that of `no_proxy` names the host of a URL. */
export function isNamedIn(noProxy: string, url: URL): boolean {
  const host = hostOf(url).toLowerCase();
  return noProxy
    .split(/[\s,]/)
    .filter((one) => one !== "")
    .some((one) => matches(one.toLowerCase(), host, portOf(url)));
}

function matches(pattern: string, host: string, port: number): boolean {
  if (pattern === "*") return true;
  if (pattern.includes("/")) return inNetwork(host, pattern);
  const [, bracketed, named, at] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(pattern) ?? [];
  if (at !== undefined && Number(at) !== port) return false;
  // More than one colon: an IPv6 address without its brackets.
  const wanted = (bracketed ?? named ?? pattern).replace(/^\*?\./, "");
  return host === wanted || (!isAddress(host) && host.endsWith(`.${wanted}`));
}

const isAddress = (host: string): boolean => parseAddress(host) !== undefined;

function inNetwork(host: string, pattern: string): boolean {
  const [network = "", bits = ""] = pattern.split("/");
  const [own, its] = [parseAddress(host), parseAddress(network)];
  if (own === undefined || its === undefined || own.family !== its.family) return false;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > BITS[own.family]) return false;
  return sameAddress(networkOf(own, Number(bits)), networkOf(its, Number(bits)));
}
