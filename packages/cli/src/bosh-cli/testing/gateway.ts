import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "@slipway/testkit/free-port";
import { sshKey } from "@slipway/testkit/ssh-login";

/** A host that people go through to VMs: the machine's sshd, on a port and with a user of its own. */
export interface Gateway {
  /** Host in the form that ssh takes. */
  readonly host: string;
  readonly user: string;
  readonly key: string;
  /** How many connections to a port, 22 if none is said, it has passed on. */
  readonly passed: (port?: number) => Promise<number>;
  readonly stop: () => Promise<void>;
}

const USER = "gate";

/** Takes root: it has a passwd of its own. */
export async function openGateway(dir: string): Promise<Gateway> {
  await mkdir(dir, { mode: 0o755 });
  const [host, own] = [await sshKey(dir, "host_key"), await sshKey(dir, "own")];
  const [port, log] = [await freePort(), join(dir, "log")];
  await writeFile(join(dir, "keys"), own.key, { mode: 0o600 });
  const passwd = `${USER}:x:0:0::${dir}:/bin/sh\n${await readFile("/etc/passwd", "utf8")}`;
  await writeFile(join(dir, "passwd"), passwd, { mode: 0o644 });
  const config = [
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${host.path}`,
    `AuthorizedKeysFile ${join(dir, "keys")}`,
    "PidFile none",
    "PermitRootLogin prohibit-password",
    "StrictModes no",
    "UsePAM no",
    // It tells whereto it connects.
    "LogLevel DEBUG1",
    "",
  ];
  await writeFile(join(dir, "config"), config.join("\n"));
  await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const script = 'mount -n --bind "$1" /etc/passwd && shift && exec "$@"';
  const sshd = ["/usr/sbin/sshd", "-D", "-f", join(dir, "config"), "-E", log];
  const child = spawn("unshare", ["--mount", "sh", "-c", script, "sh", join(dir, "passwd"), ...sshd]);
  await listening(child, port);
  return {
    host: `ssh://127.0.0.1:${port}`,
    user: USER,
    key: own.path,
    passed: async (to = 22) =>
      ((await readFile(log, "utf8")).match(new RegExp(`target \\S+ port ${to}$`, "gm")) ?? []).length,
    stop: () => ended(child),
  };
}

/** A SOCKS5 proxy on this machine, through that one: what `ssh -D` is. */
export async function socksThrough({ host, user, key }: Gateway) {
  const port = await freePort();
  const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "ExitOnForwardFailure=yes"];
  const child = spawn("ssh", [
    ...["-F", "none", "-N", "-i", key, "-l", user, "-D", `127.0.0.1:${port}`],
    ...options.flatMap((one) => ["-o", one]),
    host,
  ]);
  await listening(child, port);
  return { url: `socks5://127.0.0.1:${port}`, stop: () => ended(child) };
}

/** The program that the CLI asks for to go through one: `connect-proxy -S PROXY HOST PORT`. IPv4 alone. */
export async function writeConnectProxy(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, "connect-proxy"), `#!${process.execPath}\n${CONNECT}`, { mode: 0o755 });
}

const CONNECT = `const [, , , proxy, host, port] = process.argv;
const [at, on] = proxy.split(":");
const socket = require("node:net").connect(Number(on), at);
socket.write(Buffer.from([5, 1, 0]));
socket.once("data", () => {
  socket.write(Buffer.from([5, 1, 0, 1, ...host.split(".").map(Number), port >> 8, port & 255]));
  socket.once("data", (answer) => {
    if (answer[1] !== 0) process.exit(1);
    process.stdout.write(answer.subarray(10));
    process.stdin.pipe(socket).pipe(process.stdout);
  });
});
socket.once("close", () => process.exit(0));
`;

async function listening(child: ChildProcess, port: number): Promise<void> {
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      const tell = (is: boolean) => {
        socket.destroy();
        resolve(is);
      };
      socket.once("connect", () => tell(true)).once("error", () => tell(false));
    });
  while (!(await answers()))
    if (child.exitCode !== null) throw new Error("it does not listen, and has ended");
}

async function ended(child: ChildProcess): Promise<void> {
  const over = once(child, "close");
  child.kill();
  await over;
}
