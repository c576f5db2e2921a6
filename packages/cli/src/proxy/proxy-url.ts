import { hostOf } from "@slipway/kernel/http/wire";
import type { Socks5Proxy } from "@slipway/kernel/socks5";
import { BadProxyUrl } from "./errors.ts";

/** A host that is entered by ssh, and that connects to others for us. */
export interface Jumpbox {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly key: string;
  /** Only where its key is in known_hosts; upstream believes any, as what goes through is encrypted for others. */
  readonly strict: boolean;
}

export type ProxyUrl =
  | { readonly kind: "socks5"; readonly proxy: Socks5Proxy }
  | { readonly kind: "ssh"; readonly jumpbox: Jumpbox };

const SOCKS_PORT = 1080;
const SSH_PORT = 22;
/** Upstream's. */
const JUMPBOX_USER = "jumpbox";
const HOST = /^[A-Za-z0-9][A-Za-z0-9.:_-]*$|^::/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9._@-]*$/;
const STRICT = "strict-host-key-checking";

/** `socks5://[user:password@]host:port`, also without its scheme, or `ssh+socks5://user@host:port?private-key=path`. */
export function readProxyUrl(given: string, from: string): ProxyUrl {
  const bad = (why: string, cause?: unknown) => BadProxyUrl({ from, why }, { cause });
  const text = given.includes("://") ? given : `socks5://${given}`;
  if (!URL.canParse(text)) throw bad("it is no URL");
  const url = new URL(text);
  const decoded = (part: string) => {
    try {
      return part === "" ? undefined : decodeURIComponent(part);
    } catch (cause) {
      throw bad("its name or password has a % that is not written as %25", cause);
    }
  };
  const host = hostOf(url);
  if (!HOST.test(host)) throw bad("it names no host");
  const at = (port: number) => ({ host, port: Number(url.port) || port });
  const user = decoded(url.username);
  switch (url.protocol) {
    case "socks5:":
    case "socks5h:":
      return { kind: "socks5", proxy: { ...at(SOCKS_PORT), user, password: decoded(url.password) } };
    case "ssh+socks5:":
      return { kind: "ssh", jumpbox: { ...at(SSH_PORT), ...jumpboxOf(url.searchParams, user, bad) } };
    default:
      throw bad(`it begins with ${url.protocol}//, which is neither socks5:// nor ssh+socks5://`);
  }
}

function jumpboxOf(query: URLSearchParams, user = JUMPBOX_USER, bad: (why: string) => Error) {
  const key = query.get("private-key") ?? "";
  if (key === "") throw bad("private-key, the path of the key for the jumpbox, is missing");
  if (!USER.test(user)) throw bad("its user has no name");
  const strict = query.get(STRICT) ?? "false";
  if (!["true", "false"].includes(strict)) throw bad(`${STRICT} is true or false`);
  return { user, key, strict: strict === "true" };
}
