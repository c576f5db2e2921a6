import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { type Exec, mustRun } from "@slipway/kernel/exec";
import type { AuthContext, Channel, Connection, PtySize, Session } from "ssh2";

export interface SshServerOptions {
  readonly ip: string;
  readonly port: number;
  readonly hostKey: string;
  /** Directory with the home of each user. Keys are read there at each login. */
  readonly homes: string;
  /** PATH of the sessions. */
  readonly path: string;
  readonly exec: Exec;
  readonly clock: Clock;
}

export interface SshServer {
  readonly ip: string;
  readonly port: number;
  /** Ends the sessions, too. */
  close(): Promise<void>;
}

/** Connections at a time. A Director or an operator opens one for each session. */
const MOST_CONNECTIONS = 64;
const LOGIN_MS = 30_000;

/**
 * Serves ssh where the VM has no sshd: shells and commands of the users that a Director has set up, by key. They run as
 * the user of the agent and its jobs. The program `script` gives sessions a terminal.
 */
export async function startSshServer(options: SshServerOptions): Promise<SshServer> {
  // The library is only read when it is needed: most agents never serve a session.
  const { Server, utils } = await import("ssh2");
  const open = new Set<Connection>();

  const isKeyOf = async ({ username, key, signature, blob, hashAlgo }: AuthContext): Promise<boolean> => {
    if (key === undefined || !/^bosh_\w+$/.test(username)) return false;
    const file = join(options.homes, username, ".ssh", "authorized_keys");
    const allowed = utils.parseKey(await readFile(file, "utf8").catch(() => ""));
    if (allowed instanceof Error) return false;
    if (key.algo !== allowed.type || !key.data.equals(allowed.getPublicSSH())) return false;
    // Without a signature the client asks whether it is worth signing with this key.
    return (
      signature === undefined || (blob !== undefined && allowed.verify(blob, signature, hashAlgo) === true)
    );
  };

  const server = new Server({ hostKeys: [options.hostKey] }, (connection) => {
    let user = "";
    open.add(connection);
    const cancel = options.clock.after(LOGIN_MS, () => connection.end());
    if (open.size > MOST_CONNECTIONS) connection.end();
    connection
      .on("authentication", (context) => {
        if (context.method !== "publickey") return context.reject(["publickey"]);
        void isKeyOf(context).then((isKey) => {
          if (!isKey) return context.reject(["publickey"]);
          user = context.username;
          context.accept();
        });
      })
      .on("ready", cancel)
      .on("session", (accept) => serveSession(accept(), user, options))
      // Clients that break off are expected.
      .on("error", () => undefined)
      .on("close", () => {
        cancel();
        open.delete(connection);
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.ip, resolve);
  });
  return {
    ip: options.ip,
    port: server.address().port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const connection of open) connection.end();
      }),
  };
}

/** Makes a host key without `ssh-keygen`, in its format. */
export async function writeHostKey(path: string): Promise<void> {
  const { utils } = await import("ssh2");
  const pair = utils.generateKeyPairSync("ed25519");
  await writeFile(`${path}.pub`, `${pair.public}\n`, { mode: 0o644 });
  await writeFile(path, pair.private, { mode: 0o600 });
}

type SessionEnv = Record<string, string> & { TERM?: string };

/** One shell or command, with a terminal if the client asks for one. */
function serveSession(session: Session, user: string, { homes, path, exec }: SshServerOptions): void {
  const home = join(homes, user);
  const env: SessionEnv = {
    PATH: path,
    HOME: home,
    USER: user,
    LOGNAME: user,
    SHELL: "/bin/bash",
  };
  let size: PtySize | undefined;
  let running: ChildProcess | undefined;

  const start = (channel: Channel, command: string | undefined): void => {
    const shell = command === undefined ? ["-l"] : ["-c", command];
    const [program, args] = size === undefined ? (["bash", shell] as const) : inTerminal(size, env, shell);
    const child = spawn(program, args, { cwd: home, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    running = child;
    const say = (error: Error) => channel.stderr.write(`${error.message}\n`);
    child.once("error", (error) => {
      say(error);
      channel.exit(127);
      channel.end();
    });
    // Programs may end before they have read everything.
    child.stdin?.on("error", () => undefined);
    if (child.stdin) channel.pipe(child.stdin);
    child.stdout?.pipe(channel, { end: false });
    child.stderr?.pipe(channel.stderr, { end: false });
    child.once("close", (code, signal) => {
      channel.exit(code ?? signal?.replace(/^SIG/, "") ?? 255);
      channel.end();
    });
    channel.once("close", () => hangUp(child));
    channel.on("error", () => undefined);
  };

  session
    .on("pty", (accept, reject, info) => {
      // A client does not wait for this answer before it sends its command.
      if (!existsSync("/usr/bin/script")) return reject?.();
      size = info;
      if (/^[\w.+-]+$/.test(info.term)) env.TERM = info.term;
      accept?.();
    })
    .on("window-change", (accept, _reject, info) => {
      void resize(running?.pid, info, exec).then(() => accept?.());
    })
    .on("env", (accept, reject, { key, val }) => {
      if (!/^(LANG|LC_\w+)$/.test(key)) return reject?.();
      env[key] = val;
      accept?.();
    })
    .on("shell", (accept) => start(accept(), undefined))
    .on("exec", (accept, _reject, { command }) => start(accept(), command));
}

/** The terminal that `script` makes for a pipe echoes nothing and has no size, so both are set before the command. */
function inTerminal(
  { rows, cols }: PtySize,
  env: SessionEnv,
  shell: readonly string[],
): readonly [string, readonly string[]] {
  const quoted = ["bash", ...shell].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  env.TERM ??= "dumb";
  return ["script", ["-qefc", `stty echo ${sizeFlags({ rows, cols })}; exec ${quoted}`, "/dev/null"]];
}

const sizeFlags = ({ rows, cols }: PtySize): string =>
  `rows ${Math.trunc(rows) || 24} cols ${Math.trunc(cols) || 80}`;

/** Sets the size of the terminal that the child of `script` has; the kernel tells the programs in it. */
async function resize(script: number | undefined, size: PtySize, exec: Exec): Promise<void> {
  try {
    const [child = ""] = childrenOf(script);
    const terminal = readlinkSync(`/proc/${child}/fd/0`);
    if (!/^\/dev\/pts\/\d+$/.test(terminal)) return;
    await mustRun(exec, "changing the size of a terminal", "stty", [
      "-F",
      terminal,
      ...sizeFlags(size).split(" "),
    ]);
  } catch {
    // The session has just ended.
  }
}

const childrenOf = (pid: number | undefined): readonly string[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
      .split(" ")
      .filter((one) => one !== ""),
  );

/** Tells the session's processes that nobody listens any longer, as a terminal does when it is closed. */
function hangUp({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, "SIGHUP");
  } catch {
    // It has ended.
  }
}
