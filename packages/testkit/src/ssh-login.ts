import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mustRun, systemExec } from "@slipway/kernel/exec";

/** Answer of an agent to `ssh setup`. */
export interface SshSetUp {
  readonly command: string;
  readonly status: string;
  readonly ip: string;
  readonly host_public_key: string;
  readonly port?: number;
}

interface SshKey {
  readonly path: string;
  /** Public key, as a line of authorized keys. */
  readonly key: string;
}

/** `rsa` with 2048 bits is what the bosh CLI makes. */
export async function sshKey(
  dir: string,
  name: string,
  type: "ed25519" | "rsa" = "ed25519",
): Promise<SshKey> {
  const path = join(dir, name);
  const args = ["-q", "-t", type, ...(type === "rsa" ? ["-b", "2048"] : []), "-N", "", "-f", path];
  await mustRun(systemExec, "making a key", "ssh-keygen", args);
  return { path, key: await readFile(`${path}.pub`, "utf8") };
}

/** Logs in as the bosh CLI does: with the given key and host key, and no others. */
export async function sshLogin(setUp: SshSetUp, user: string, { path }: SshKey, command: string) {
  const { ip, port = 22, host_public_key: host } = setUp;
  const known = `${path}.hosts`;
  await writeFile(known, `${port === 22 ? ip : `[${ip}]:${port}`} ${host}\n`);
  const options = ["BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR"];
  const all = [...options, `UserKnownHostsFile=${known}`, `Port=${port}`].flatMap((one) => ["-o", one]);
  return await systemExec("ssh", ["-F", "none", "-i", path, ...all, `${user}@${ip}`, command]);
}
