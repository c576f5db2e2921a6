import { defineError, messageTrail, SlipwayError } from "@slipway/kernel/errors";
import { HttpTrouble } from "@slipway/kernel/http/client";
import { HttpProxyTrouble } from "@slipway/kernel/http/proxy-wire";
import { ProxyError } from "@slipway/kernel/proxy-error";

/** `from`: BOSH_ALL_PROXY, or the option. What was given is not repeated: it may hold a password. */
export const BadProxyUrl = defineError<{ from: string; why: string }>({
  code: "CLI-050",
  kind: "operator",
  typed: true,
  message: (p) => `${p.from} cannot be used: ${p.why}`,
  next: "Give it as socks5://host:port, or as ssh+socks5://user@jumpbox:22?private-key=/path/of/its/key.",
});

/** `from`: the variable that names it. */
export const ProxyRefuses = defineError<{ from: string; why: string }>({
  code: "CLI-051",
  kind: "operator",
  message: (p) => `the way through ${p.from} is closed: ${p.why}`,
  next: "Correct {from}: its address, name and password. A character that means something in a URL is written as %40.",
});

export const ProxyAway = defineError<{ from: string; why: string }>({
  code: "CLI-052",
  kind: "outside",
  message: (p) => `the way through ${p.from} is closed: ${p.why}`,
  next: "See that the proxy runs and can be reached from here. NO_PROXY names who is asked without it.",
});

export const JumpboxClosed = defineError<{ user: string; host: string; port: number; why: string }>({
  code: "CLI-053",
  kind: "operator",
  message: (p) =>
    `the jumpbox of BOSH_ALL_PROXY, ${p.user}@${p.host} port ${p.port}, lets nobody through: ${p.why}`,
  next: "Try `ssh -i KEY -p {port} {user}@{host}` with the key of BOSH_ALL_PROXY.",
});

/** Returns the proxy's part in a failed request; undefined if the proxy was not the reason. */
export function proxyTrouble(error: unknown): SlipwayError | undefined {
  const cause = error instanceof HttpTrouble ? error.cause : error;
  if (cause instanceof SlipwayError) return cause;
  if (!(cause instanceof ProxyError)) return undefined;
  const from = cause instanceof HttpProxyTrouble ? "https_proxy" : "BOSH_ALL_PROXY";
  const why = messageTrail(cause);
  return cause.lasting ? ProxyRefuses({ from, why }) : ProxyAway({ from, why });
}
