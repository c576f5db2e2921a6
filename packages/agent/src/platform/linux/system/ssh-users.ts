import { chmod, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandFailed, type Exec, mustRun } from "@slipway/kernel/exec";
import type { Log } from "../../../log.ts";
import type { Paths } from "../../../paths.ts";
import { HostKeyMissing, InvalidSecret } from "../../system-errors.ts";
import { accountOf, accounts, checkSshUserName, EPHEMERAL_PREFIX, groups } from "./accounts.ts";
import { setAuthorizedKeys } from "./authorized-keys.ts";
import { matchingNames } from "./user-pattern.ts";

interface UserTools {
  readonly paths: Paths;
  readonly exec: Exec;
  readonly log: Log;
}

const GROUPS = ["vcap", "admin", "bosh_sudoers", "bosh_sshers"];
const NO_SUCH_USER = 6;

/** A user for one ssh session. A repeated call renews the key. */
export async function createSshUser(user: string, publicKey: string, tools: UserTools): Promise<void> {
  const { paths, exec, log } = tools;
  checkSshUserName(user);
  const key = publicKey.trim();
  if (key === "" || /[\r\n\0]/.test(key)) throw InvalidSecret({ what: `the public key of ${user}` });

  const homes = join(paths.base, "bosh_ssh");
  await mkdir(homes, { recursive: true, mode: 0o755 });
  if (!(await accounts(paths)).some(({ name }) => name === user)) {
    await mustRun(exec, `creating the user ${user}`, "useradd", ["-m", "-b", homes, "-s", "/bin/bash", user]);
  }
  await chmod(paths.system((await accountOf(paths, user)).home), 0o700);
  const known = await groups(paths);
  const present = GROUPS.filter((group) => known.has(group));
  if (present.length < GROUPS.length) {
    log.warn(
      `${user} is not put into ${GROUPS.filter((group) => !known.has(group)).join(", ")}: no such group`,
    );
  }
  if (present.length > 0) {
    await mustRun(exec, `giving ${user} its groups`, "usermod", ["-G", present.join(","), user]);
  }
  await setAuthorizedKeys(paths, user, [key]);
}

/** Deletes users of ssh sessions with their homes, and no others. */
export async function deleteSshUsers(pattern: RegExp, { paths, exec }: UserTools): Promise<void> {
  const names = (await accounts(paths))
    .map(({ name }) => name)
    .filter((name) => name.startsWith(EPHEMERAL_PREFIX));
  for (const name of matchingNames(pattern, names)) {
    const result = await exec("userdel", ["-rf", name]);
    if (result.code === 0 || result.code === NO_SUCH_USER) continue;
    // -f deletes the account even if the user is logged in, and may then still complain about the mail spool.
    if ((await accounts(paths)).some((account) => account.name === name)) {
      const { program, code, stderr } = result;
      throw CommandFailed({ doing: `deleting the user ${name}`, program, code, stderr: stderr.trim() });
    }
  }
}

/** The RSA key as upstream, or what the machine has instead of one. */
export async function hostPublicKey(paths: Paths): Promise<string> {
  const directory = paths.system("etc", "ssh");
  for (const kind of ["rsa", "ed25519", "ecdsa"]) {
    const key = await readFile(join(directory, `ssh_host_${kind}_key.pub`), "utf8").catch(() => "");
    if (key.trim() !== "") return key.trim();
  }
  throw HostKeyMissing({ directory });
}
