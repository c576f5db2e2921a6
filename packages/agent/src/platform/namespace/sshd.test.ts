import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { describe, expect, it, onTestFinished } from "vitest";
import { pathsUnder } from "../../paths.ts";
import { sandboxSshd } from "./sshd.ts";

sampleTests(1 / 4);

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const here = needs(
  "sshd",
  has("/usr/sbin/sshd") && has("ssh") && has("scp") && (await canUseSandboxes()),
  "it takes ssh, sshd (openssh-server) and mount namespaces",
);

/** Runs commands like an agent of the local CPI that an ordinary user started: as root of a user namespace. */
const asUser: Exec = (program, args, options) =>
  systemExec("unshare", ["--user", "--map-root-user", "--mount", program, ...args], options);

async function vm(userNamespace: boolean) {
  // Not below a directory that others may write to: sshd trusts no keys there.
  const dir = await mkdtemp(join(tmpdir(), "slipway-ssh-"));
  const paths = pathsUnder(join(dir, "vcap"));
  const exec = userNamespace ? asUser : systemExec;
  const sshd = sandboxSshd({ paths, exec, clock: systemClock, userNamespace });
  onTestFinished(async () => {
    await sshd.deleteUsers(/.*/);
    await rm(dir, { recursive: true, force: true });
  });
  const identity = async (name: string) => {
    const path = join(dir, name);
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path]);
    return { path, key: await readFile(`${path}.pub`, "utf8") };
  };
  /** Returns the flags of the bosh CLI, which trusts only the host key it was given. */
  const flags = async (port: number, key: string, identityPath: string) => {
    const known = join(dir, "known_hosts");
    await writeFile(known, `[127.0.0.1]:${port} ${key}\n${port === 22 ? `127.0.0.1 ${key}\n` : ""}`);
    const options = ["BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR"];
    const all = [...options, `UserKnownHostsFile=${known}`, `Port=${port}`];
    return ["-F", "none", "-i", identityPath, ...all.flatMap((option) => ["-o", option])];
  };
  return { dir, paths, sshd, identity, flags };
}

const WAYS = [
  { who: "root", userNamespace: false, possible: isRoot },
  { who: "an ordinary user", userNamespace: true, possible: true },
];

describe.runIf(here).each(WAYS)("ssh into a sandbox of $who", ({ userNamespace, possible }) => {
  it.runIf(possible)("lets in the user it was set up for, by key, and no other", async () => {
    const { dir, sshd, identity, flags } = await vm(userNamespace);
    const [mine, other] = [await identity("mine"), await identity("other")];
    const hostKey = await sshd.hostPublicKey();
    expect(await sshd.hostPublicKey()).toBe(hostKey);
    const port = await sshd.createUser("bosh_abc", mine.key, "127.0.0.1");
    const ssh = async (user: string, key: string, ...command: readonly string[]) =>
      (await run("ssh", [...(await flags(port, hostKey, key)), `${user}@127.0.0.1`, ...command])).stdout;

    expect(await ssh("bosh_abc", mine.path, "whoami; cd; pwd")).toBe(
      `bosh_abc\n${join(dir, "vcap", "bosh_ssh", "bosh_abc")}\n`,
    );
    // It owns what the jobs own, and has a terminal when it asks for one.
    expect(await ssh("bosh_abc", mine.path, `echo x > ${dir}/vcap/file; stat -c %U ${dir}/vcap/file`)).toBe(
      "bosh_abc\n",
    );
    // No session needs more rights than that, and one that asks for them with sudo goes on.
    const asks = "sudo -n -u root A=b bash -c 'echo $A; whoami'";
    expect(await ssh("bosh_abc", mine.path, asks)).toBe("b\nbosh_abc\n");
    const terminal = await run("ssh", [
      "-tt",
      ...(await flags(port, hostKey, mine.path)),
      "bosh_abc@127.0.0.1",
      "tty",
    ]);
    expect(terminal.stdout).toMatch(/^\/dev\/pts\/\d+/);
    await writeFile(join(dir, "logs.tgz"), "logs");
    const scp = await flags(port, hostKey, mine.path);
    await run("scp", [...scp, `bosh_abc@127.0.0.1:${dir}/logs.tgz`, join(dir, "copy")]);
    expect(await readFile(join(dir, "copy"), "utf8")).toBe("logs");

    await expect(ssh("bosh_abc", other.path, "true")).rejects.toThrow("Permission denied");
    await expect(ssh("root", mine.path, "true")).rejects.toThrow("Permission denied");
    await expect(ssh("bosh_xyz", mine.path, "true")).rejects.toThrow("Permission denied");
  });

  it.runIf(possible)("takes a second user beside the first, and cleans up those that match", async () => {
    const { paths, sshd, identity, flags } = await vm(userNamespace);
    const mine = await identity("mine");
    const hostKey = await sshd.hostPublicKey();
    await sshd.createUser("bosh_one", mine.key, "127.0.0.1");
    const port = await sshd.createUser("bosh_two", mine.key, "127.0.0.1");
    const options = await flags(port, hostKey, mine.path);
    const asks = (user: string) => run("ssh", [...options, `${user}@127.0.0.1`, "echo in"]);
    for (const user of ["bosh_one", "bosh_two"]) expect((await asks(user)).stdout).toBe("in\n");
    await sshd.deleteUsers(/^bosh_one/);
    await expect(asks("bosh_one")).rejects.toThrow("Permission denied");
    expect((await asks("bosh_two")).stdout).toBe("in\n");
    await sshd.deleteUsers(/^bosh_two/);
    await expect(asks("bosh_two")).rejects.toThrow("Connection refused");
    expect(await readdir(join(paths.base, "bosh_ssh"))).toEqual([]);
    expect(await readFile("/etc/passwd", "utf8")).not.toContain("bosh_one");
  });

  it.runIf(possible)("refuses invalid names and keys, and an address that is not the VM's", async () => {
    const { sshd } = await vm(userNamespace);
    await sshd.hostPublicKey();
    await expect(sshd.createUser("root", "ssh-rsa x", "127.0.0.1")).rejects.toThrow("not acceptable");
    await expect(sshd.createUser("bosh_a", "ssh-rsa x\nssh-rsa y", "127.0.0.1")).rejects.toThrow(
      "not acceptable",
    );
    await expect(sshd.createUser("bosh_a", "ssh-rsa x", "192.0.2.1")).rejects.toThrow(
      "nothing can listen on 192.0.2.1",
    );
  });
});
