import { readFileSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { type Exec, mustRun } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import type { Paths } from "../../paths.ts";
import { checkSshUserName } from "../linux/system/accounts.ts";
import { matchingNames } from "../linux/system/user-pattern.ts";
import { InvalidSecret, SshdDidNotStart } from "../system-errors.ts";
import { type SshServer, startSshServer, writeHostKey } from "./ssh-server.ts";
import { writeSudo } from "./sudo.ts";

export interface SshdTools {
  readonly paths: Paths;
  readonly exec: Exec;
  readonly clock: Clock;
  /** True if the agent's root is another user outside the namespace. */
  readonly userNamespace?: boolean;
}

/** User id of a session in a user namespace. The machine's user with that id is left out of its passwd. */
const SESSION_ID = 1000;
const STARTS_MS = 10_000;
const LOOK_MS = 20;
const PORT = 22;

/**
 * Ssh into a sandbox. It has its host's users, and its `/etc` is read-only, so the machine's sshd is started for this
 * VM alone: with mounts in which `/etc/passwd` has the session's users, and a host key of the VM's own. They are other
 * names of the user that the agent and the jobs run as. Every setup starts a new listener, which sees the disks that
 * are mounted by then; sessions outlive it. Where there is no sshd, the agent serves ssh itself, for as long as it runs.
 */
export function sandboxSshd(tools: SshdTools) {
  const { paths } = tools;
  const directory = join(paths.boshDir, "ssh");
  const homes = join(paths.base, "bosh_ssh");
  const files = {
    key: join(directory, "host_key"),
    config: join(directory, "sshd_config"),
    passwd: join(directory, "passwd"),
    group: join(directory, "group"),
    pid: join(directory, "sshd.pid"),
    log: join(paths.boshLog, "sshd.log"),
  };
  const users = async (): Promise<string[]> =>
    (await readdir(homes).catch((): string[] => [])).filter((name) => name.startsWith("bosh_"));

  let own: SshServer | undefined;
  const stop = async (): Promise<void> => {
    await own?.close();
    own = undefined;
    await stopListener(files.pid, tools);
  };

  const listen = async (ip: string): Promise<number> => {
    // The agent's own server sees new users and disks by itself.
    if (own?.ip === ip) return own.port;
    await stop();
    const inside = tools.userNamespace ?? isUserNamespace();
    const port = await freePort(ip, inside ? 0 : PORT);
    const sshd = await sshdProgram(paths);
    if (sshd === undefined) {
      const hostKey = await readFile(files.key, "utf8");
      const path = await writeSudo(directory);
      own = await startSshServer({ ip, port, hostKey, homes, path, exec: tools.exec, clock: tools.clock });
      return own.port;
    }
    await writeAccounts(files, await users(), homes, inside, paths);
    const path = await writeSudo(directory);
    await writeFile(files.config, configOf(files, ip, port, path), { mode: 0o600 });
    await mkdir(paths.boshLog, { recursive: true, mode: 0o755 });
    await start(sshd, files, inside, tools);
    return port;
  };

  return {
    hostPublicKey: async (): Promise<string> => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      if (!(await exists(files.key))) {
        // The public half first: a reader that finds the private one finds both.
        const made = `${files.key}.new`;
        for (const half of [made, `${made}.pub`]) await rm(half, { force: true });
        if ((await sshdProgram(paths)) === undefined) await writeHostKey(made);
        else {
          const args = ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", made];
          await mustRun(tools.exec, "making the ssh host key of this VM", "ssh-keygen", args);
        }
        await rename(`${made}.pub`, `${files.key}.pub`);
        await rename(made, files.key);
      }
      return (await readFile(`${files.key}.pub`, "utf8")).trim();
    },
    /** Resolves to the port that it listens on. */
    createUser: async (user: string, publicKey: string, ip: string): Promise<number> => {
      checkSshUserName(user);
      const key = publicKey.trim();
      if (key === "" || /[\r\n\0]/.test(key)) throw InvalidSecret({ what: `the public key of ${user}` });
      const ssh = join(homes, user, ".ssh");
      await mkdir(ssh, { recursive: true });
      await chmod(homes, 0o755);
      for (const own of [join(homes, user), ssh]) await chmod(own, 0o700);
      await writeFile(join(ssh, "authorized_keys"), `${key}\n`, { mode: 0o600 });
      return await listen(ip);
    },
    /** The listener goes with the last user; one that stays reads the keys at each login. */
    deleteUsers: async (pattern: RegExp): Promise<void> => {
      for (const user of matchingNames(pattern, await users()))
        await rm(join(homes, user), { recursive: true, force: true });
      if ((await users()).length === 0) await stop();
    },
  };
}

type Files = { readonly [name in "key" | "config" | "passwd" | "group" | "pid" | "log"]: string };

async function sshdProgram(paths: Paths): Promise<string | undefined> {
  for (const path of ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"])
    if (await exists(paths.system(path))) return path;
  return undefined;
}

const configOf = (files: Files, ip: string, port: number, path: string): string =>
  [
    `ListenAddress ${ip}`,
    `Port ${port}`,
    `HostKey ${files.key}`,
    `PidFile ${files.pid}`,
    "AllowUsers bosh_*",
    "AuthenticationMethods publickey",
    // They are other names of root, where the agent is root.
    "PermitRootLogin prohibit-password",
    "AuthorizedKeysFile .ssh/authorized_keys",
    "UsePAM no",
    "PrintMotd no",
    "Subsystem sftp internal-sftp",
    `SetEnv "PATH=${path}"`,
    "",
  ].join("\n");

async function writeAccounts(
  files: Files,
  users: readonly string[],
  homes: string,
  inside: boolean,
  paths: Paths,
): Promise<void> {
  const id = inside ? SESSION_ID : 0;
  const others = async (name: "passwd" | "group", hides: (row: readonly string[]) => boolean) => {
    const rows = (await readFile(paths.system("etc", name), "utf8")).split("\n").filter((row) => row !== "");
    return rows.filter((row) => !hides(row.split(":")));
  };
  const own = users.map((user) => `${user}:x:${id}:${id}::${join(homes, user)}:/bin/bash`);
  const sameId = ([, , number]: readonly string[]) => inside && number === String(id);
  // The group `tty` has no number in a user namespace, and sshd insists on giving it every terminal.
  const hidden = (row: readonly string[]) => sameId(row) || (inside && row[0] === "tty");
  const passwd = [...own, ...(await others("passwd", sameId)), ""];
  const group = [...(inside ? [`bosh:x:${id}:`] : []), ...(await others("group", hidden)), ""];
  await writeFile(files.passwd, passwd.join("\n"), { mode: 0o644 });
  await writeFile(files.group, group.join("\n"), { mode: 0o644 });
}

/**
 * In a user namespace sshd must not be root: it would try to change groups, which is refused there. As another id it
 * takes every user for itself. It goes into the background by itself, and says so in the pid file when it listens.
 */
async function start(
  program: string,
  files: Files,
  inside: boolean,
  { paths, exec, clock }: SshdTools,
): Promise<void> {
  const script = [
    'mount -n --bind "$1" /etc/passwd && mount -n --bind "$2" /etc/group || exit',
    "shift 2",
    inside ? `exec unshare --user --map-user=${SESSION_ID} --map-group=${SESSION_ID} "$@"` : 'exec "$@"',
  ].join("\n");
  if (!inside) await mkdir(paths.system("run", "sshd"), { recursive: true, mode: 0o755 });
  const sshd = [program, "-f", files.config, "-E", files.log];
  const args = ["--mount", "sh", "-c", script, "sh", files.passwd, files.group, ...sshd];
  await mustRun(exec, "starting sshd for this VM", "unshare", args);
  const giveUp = clock.monotonic() + STARTS_MS;
  while ((await pidIn(files.pid)) === 0) {
    if (clock.monotonic() > giveUp) {
      const said = (await readFile(files.log, "utf8").catch(() => ""))
        .trim()
        .split("\n")
        .slice(-3)
        .join("; ");
      throw SshdDidNotStart({ said: said || "nothing" });
    }
    await clock.sleep(LOOK_MS);
  }
}

/** 0: none yet. */
const pidIn = async (file: string): Promise<number> =>
  Number((await readFile(file, "utf8").catch(() => "")).trim()) || 0;

/** Stops the listener only if its process is an sshd: after a reboot of the VM another process may have its pid. */
async function stopListener(pidFile: string, { clock }: SshdTools): Promise<void> {
  const pid = await pidIn(pidFile);
  const runs = () => {
    try {
      return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "sshd";
    } catch {
      return false;
    }
  };
  const giveUp = clock.monotonic() + STARTS_MS;
  if (pid > 1 && runs()) {
    process.kill(pid, "SIGTERM");
    while (runs() && clock.monotonic() < giveUp) await clock.sleep(LOOK_MS);
  }
  await rm(pidFile, { force: true });
}

/** The port of ssh where it can be had: not where the host listens on it, and not without being root outside. */
async function freePort(ip: string, wanted: number): Promise<number> {
  const tried = (port: number) =>
    new Promise<number>((resolve, reject) => {
      const server = createServer();
      server.once("error", reject);
      server.listen(port, ip, () => {
        const address = server.address();
        server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
      });
    });
  return await tried(wanted).catch((error: unknown) => {
    if (["EACCES", "EADDRINUSE", "EPERM"].includes(systemCode(error) ?? "")) return tried(0);
    throw SshdDidNotStart({ said: `nothing can listen on ${ip}` }, { cause: error });
  });
}

/** True unless users 0 to 65535 all exist: then sshd runs as root and becomes others, also in a user namespace. */
function isUserNamespace(): boolean {
  try {
    const [, first, , count] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s*$/.exec(readFileSync("/proc/self/uid_map", "utf8")) ?? [];
    return first !== "0" || Number(count) < 65_536;
  } catch {
    return false;
  }
}
