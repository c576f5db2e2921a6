import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { freePort } from "@slipway/kernel/ports";
import type { Random } from "@slipway/kernel/random";
import { JumpboxClosed } from "./errors.ts";
import type { Jumpbox } from "./proxy-url.ts";

/** A SOCKS5 proxy on a port of this machine that goes out at a jumpbox: what `ssh -D` is. */
export interface Tunnel {
  readonly port: number;
  /** Called when it ends by itself. */
  onEnd(told: () => void): void;
  close(): void;
}

interface TunnelTools {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
}

const CONNECT_SECONDS = 10;
const WITHIN_MS = 30_000;
const READY = "ready";
const NO_PROGRAM = 127;
const MOST_SAID = 4000;

/** ssh in place of the shell. It ends with us, however we end: our end of its input is closed then. */
const WITH_US = 'exec 3<&0 </dev/null; { read -r _ <&3; kill $$; } >/dev/null 2>&1 & exec 3<&-; exec "$@"';

export async function openTunnel(jumpbox: Jumpbox, { env, clock, random }: TunnelTools): Promise<Tunnel> {
  const { key, ...named } = jumpbox;
  const closed = (why: string, cause?: unknown) => JumpboxClosed({ ...named, why }, { cause });
  await access(key, constants.R_OK).catch((cause: unknown) => {
    const why = systemCode(cause) === "ENOENT" ? "is not there" : "cannot be read";
    throw closed(`the key ${key} ${why}`, cause);
  });
  const port = await freePort(random);
  // A session of its own: Ctrl-C is for us, who may have a last word to say to the Director.
  const child = spawn("/bin/sh", ["-c", WITH_US, "sh", "ssh", ...argumentsOf(jumpbox, port)], {
    env,
    detached: true,
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-MOST_SAID);
  });
  child.stdin.on("error", () => undefined);
  const close = () => {
    child.kill();
    child.stdin.destroy();
  };
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(WITHIN_MS, () => {
      close();
      reject(closed(`it said nothing for ${WITHIN_MS / 1000} s`));
    });
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes(READY)) resolve();
    });
    child.once("error", (cause) => reject(closed("no program can be started", cause)));
    child.once("close", (code) => {
      child.stdin.destroy();
      reject(closed(code === NO_PROGRAM ? NO_SSH : wordsOf(said) || `ssh ended with ${code}`));
    });
    child.once("close", cancel).stdout.once("data", cancel);
  });
  return { port, close, onEnd: (told) => void child.once("exit", told) };
}

const NO_SSH = "there is no program 'ssh'; the package openssh-client, or openssh-clients, has it";

const wordsOf = (said: string): string =>
  said
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /\w/.test(line))
    .slice(-4)
    .join("; ");

/** Returns ssh's arguments. As upstream, the user's ssh configuration is ignored and only this key is used. */
function argumentsOf({ host, port: at, user, key, strict }: Jumpbox, port: number): readonly string[] {
  const options = [
    "BatchMode=yes",
    "PasswordAuthentication=no",
    "IdentitiesOnly=yes",
    "ForwardAgent=no",
    "ExitOnForwardFailure=yes",
    "ServerAliveInterval=30",
    `ConnectTimeout=${CONNECT_SECONDS}`,
    "LogLevel=ERROR",
    ...(strict
      ? ["StrictHostKeyChecking=yes"]
      : ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"]),
    // Run when the port is open.
    "PermitLocalCommand=yes",
    `LocalCommand=echo ${READY}`,
  ];
  return [
    ...["-F", "none", "-N", "-T", "-D", `127.0.0.1:${port}`, "-i", key],
    ...options.flatMap((option) => ["-o", option]),
    ...["-p", String(at), "-l", user, "--", host],
  ];
}
