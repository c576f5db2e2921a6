import { shellQuoted } from "@slipway/kernel/shell";
import type { SshAnswer } from "@slipway/protocol/director/ssh";
import type { TypedInput } from "../command.ts";
import { Contradiction } from "../parse/errors.ts";
import { pipeThrough } from "../proxy/pipe.ts";
import type { Tools } from "../tools.ts";

/** Options and environment for ssh and scp. */
export interface Through {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Returns the way through the SOCKS5 proxy that was asked for; undefined if none was. As upstream, it goes before all others,
 * and is not switched off with them. Slipway's own program connects to it: `nc -x` is not everywhere, and takes no password.
 */
export async function socksGateway(
  given: TypedInput,
  { env, proxy, programs }: Pick<Tools, "env" | "proxy" | "programs">,
): Promise<Through | undefined> {
  const typed = given.text("gw-socks5");
  const url = typed ?? env.BOSH_ALL_PROXY;
  // Typed without a value it means: none.
  if (url === undefined || url === "") return undefined;
  const from = typed === undefined ? "BOSH_ALL_PROXY" : "--gw-socks5 (BOSH_ALL_PROXY)";
  const piped = pipeThrough(await proxy.socks(url, from), programs.self);
  const command = [...piped.program.map(word), "%h", "%p"];
  return { flags: ["-o", `ProxyCommand=${command.join(" ")}`], env: piped.env };
}

/** Returns the options with which ssh and scp go through the gateway that was asked for; undefined if none was. */
export function typedGateway(given: TypedInput, env: NodeJS.ProcessEnv): readonly string[] | undefined {
  const one = (name: "host" | "user" | "private-key") =>
    given.text(`gw-${name}`) || env[`BOSH_GW_${name.toUpperCase().replace("-", "_")}`] || undefined;
  const [host, user, key] = [one("host"), one("user"), one("private-key")];
  if (given.flag("gw-disable") || isTrue(env.BOSH_GW_DISABLE)) return [];
  if (host === undefined) return undefined;
  if (user === undefined)
    throw Contradiction({ problem: "--gw-host needs --gw-user: the name to enter that host with" });
  const options = [
    "ServerAliveInterval=30",
    "ForwardAgent=no",
    "ClearAllForwardings=yes",
    // It only passes on what is encrypted for the VM, whose key is known.
    "StrictHostKeyChecking=no",
    "UserKnownHostsFile=/dev/null",
    "LogLevel=ERROR",
    ...(key === undefined ? [] : ["PasswordAuthentication=no", "IdentitiesOnly=yes", `IdentityFile=${key}`]),
  ].flatMap((option) => ["-o", word(option)]);
  const command = ["ssh", "-W", "[%h]:%p", ...options, "-l", word(user), "--", word(host)];
  return ["-o", `ProxyCommand=${command.join(" ")}`];
}

const isTrue = (text: string | undefined): boolean => text === "true" || text === "1";

/** Read by ssh, to which `%` means something, and then by a shell. */
const word = (text: string): string => shellQuoted(text.replaceAll("%", "%%"));

const HOST = /^[A-Za-z0-9][A-Za-z0-9.:_-]*$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/**
 * Returns ssh's options for the gateway that the Director names. ssh uses the user's own keys and known hosts there. `bad`:
 * the name could be an option, or a part of one.
 */
export function gatewayOptions({
  gateway_host: host,
  gateway_user: user,
}: Pick<SshAnswer, "gateway_host" | "gateway_user">): readonly string[] | "bad" {
  if (host === undefined || host === null || host === "") return [];
  const name = user === undefined || user === null || user === "" ? "vcap" : user;
  if (!HOST.test(host) || !USER.test(name)) return "bad";
  return ["-o", `ProxyJump=${name}@${host.includes(":") ? `[${host}]` : host}`];
}
