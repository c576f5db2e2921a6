import { join } from "node:path";
import { BadServiceName } from "./errors.ts";

/** First line of units that `slipway service` may replace and remove. */
export const MARK = "# Made by `slipway service install`.";

export type Scope = "user" | "system";

export interface Unit {
  readonly scope: Scope;
  /** Program and arguments that start the Director in the foreground. */
  readonly command: readonly string[];
  /** State directory of the Director. */
  readonly home: string;
}

/**
 * Returns the unit. `KillMode=process`: the Director stops its database and sandboxes itself. If it is killed, they run on, and
 * the next start takes them over.
 */
export const unitText = ({ scope, command, home }: Unit): string => `${MARK}
[Unit]
Description=Slipway Director
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${command.map(quoted).join(" ")}
Environment=${quoted(`SLIPWAY_HOME=${home}`)}
Restart=on-failure
RestartSec=5
KillMode=process
TimeoutStopSec=180
${scope === "system" ? "LimitNOFILE=65536\n" : ""}
[Install]
WantedBy=${scope === "system" ? "multi-user.target" : "default.target"}
`;

/** Quotes a word for systemd, which replaces `%` and `$` also between quotes. */
const quoted = (word: string): string => {
  const literal = word.replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w./:=@%+,-]+$/.test(literal) ? literal : `"${literal.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
};

type Env = Readonly<Record<string, string | undefined>>;

export function unitPath(scope: Scope, name: string, env: Env): string {
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) throw BadServiceName({ name });
  const base =
    scope === "system"
      ? "/etc/systemd/system"
      : join(env.XDG_CONFIG_HOME || join(env.HOME || "/", ".config"), "systemd", "user");
  return join(base, `${name}.service`);
}
