import { execFile, spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { BaseAgent, Client, type ParsedKey, utils } from "ssh2";
import { describe, expect, it, onTestFinished } from "vitest";
import { pathsUnder } from "../../paths.ts";
import { sandboxSshd } from "./sshd.ts";

const run = promisify(execFile);
const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const here = needs("sshd", has("ssh") && has("ssh-keygen"), "it takes ssh (openssh-client)");

const parsed = (text: string): ParsedKey => {
  const key = utils.parseKey(text);
  if (key instanceof Error) throw key;
  return key;
};

/** Offers the public key of one pair and signs with the private key of another. */
class ForgingAgent extends BaseAgent {
  readonly shown: ParsedKey;
  readonly signing: ParsedKey;
  constructor(shown: ParsedKey, signing: ParsedKey) {
    super();
    this.shown = shown;
    this.signing = signing;
  }
  getIdentities(done: (error: null, keys: readonly ParsedKey[]) => void): void {
    done(null, [this.shown]);
  }
  sign(
    _shown: ParsedKey,
    data: Buffer,
    _options: unknown,
    done: (error: null, signature: Buffer) => void,
  ): void {
    const signature = this.signing.sign(data);
    if (signature instanceof Error) throw signature;
    done(null, signature);
  }
}

/** A VM whose root has no sshd. */
async function vmWithoutSshd() {
  const dir = await mkdtemp(join(tmpdir(), "slipway-ssh-"));
  const root = join(dir, "root");
  await mkdir(root);
  const sshd = sandboxSshd({
    paths: pathsUnder(join(dir, "vcap"), root),
    exec: systemExec,
    clock: systemClock,
    userNamespace: true,
  });
  onTestFinished(async () => {
    await sshd.deleteUsers(/.*/);
    await rm(dir, { recursive: true, force: true });
  });
  // The message `ssh` asks for it first.
  await sshd.hostPublicKey();
  const identity = async (name: string, type = "ed25519") => {
    const path = join(dir, name);
    await run("ssh-keygen", ["-q", "-t", type, "-N", "", "-f", path]);
    return { path, key: await readFile(`${path}.pub`, "utf8") };
  };
  const known = join(dir, "known_hosts");
  const flags = async (port: number, identityPath: string) => {
    await writeFile(known, `[127.0.0.1]:${port} ${await sshd.hostPublicKey()}\n`);
    const options = ["BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR"];
    const all = [...options, `UserKnownHostsFile=${known}`, `Port=${port}`];
    return ["-F", "none", "-i", identityPath, ...all.flatMap((option) => ["-o", option])];
  };
  return { dir, sshd, identity, flags };
}

describe.runIf(here)("ssh into a sandbox without sshd", { timeout: 120_000 }, () => {
  it.each(["ed25519", "rsa"])(
    "runs commands of its user by a key of type %s, and hands on their exit code",
    async (type) => {
      const { dir, sshd, identity, flags } = await vmWithoutSshd();
      const mine = await identity("mine", type);
      expect(await sshd.hostPublicKey()).toBe(await sshd.hostPublicKey());
      const port = await sshd.createUser("bosh_abc", mine.key, "127.0.0.1");
      const to = [...(await flags(port, mine.path)), "bosh_abc@127.0.0.1"];
      const { stdout, stderr } = await run("ssh", [
        ...to,
        "echo $USER; pwd; echo problem >&2; sudo -n echo as root",
      ]);
      expect(stdout).toBe(`bosh_abc\n${join(dir, "vcap", "bosh_ssh", "bosh_abc")}\nas root\n`);
      expect(stderr).toBe("problem\n");
      await expect(run("ssh", [...to, "exit 7"])).rejects.toMatchObject({ code: 7 });
    },
  );

  it("carries megabytes in both directions unchanged", async () => {
    const { sshd, identity, flags } = await vmWithoutSshd();
    const mine = await identity("mine");
    const port = await sshd.createUser("bosh_abc", mine.key, "127.0.0.1");
    const sent = Buffer.alloc(3_000_000, "0123456789abcdef\n");
    const ssh = spawn("ssh", [...(await flags(port, mine.path)), "bosh_abc@127.0.0.1", "cat"]);
    const received: Buffer[] = [];
    ssh.stdout.on("data", (chunk: Buffer) => received.push(chunk));
    ssh.stdin.end(sent);
    await new Promise((resolve) => ssh.once("close", resolve));
    expect(Buffer.concat(received).equals(sent)).toBe(true);
  });

  it("copies files by the older protocol of scp", async () => {
    const { dir, sshd, identity, flags } = await vmWithoutSshd();
    const mine = await identity("mine");
    const port = await sshd.createUser("bosh_abc", mine.key, "127.0.0.1");
    await writeFile(join(dir, "logs.tgz"), "logs");
    const scp = ["-O", ...(await flags(port, mine.path))];
    await run("scp", [...scp, `bosh_abc@127.0.0.1:${dir}/logs.tgz`, join(dir, "copy")]);
    await run("scp", [...scp, join(dir, "copy"), `bosh_abc@127.0.0.1:${dir}/back`]);
    expect(await readFile(join(dir, "back"), "utf8")).toBe("logs");
  });

  it("gives a terminal of the client's size where script is installed", async () => {
    const { sshd, identity, flags } = await vmWithoutSshd();
    const mine = await identity("mine");
    const port = await sshd.createUser("bosh_abc", mine.key, "127.0.0.1");
    const to = ["-tt", ...(await flags(port, mine.path)), "bosh_abc@127.0.0.1"];
    const { stdout } = await run("ssh", [...to, "tty; stty size; exit 0"]);
    expect(stdout).toMatch(/^\/dev\/pts\/\d+\r\n24 80\r\n/);
  });

  it("refuses other keys, other users and users that were removed", async () => {
    const { sshd, identity, flags } = await vmWithoutSshd();
    const [mine, other] = [await identity("mine"), await identity("other")];
    await sshd.createUser("bosh_one", mine.key, "127.0.0.1");
    const port = await sshd.createUser("bosh_two", mine.key, "127.0.0.1");
    const asks = async (user: string, key: string) =>
      (await run("ssh", [...(await flags(port, key)), `${user}@127.0.0.1`, "echo in"])).stdout;
    for (const user of ["bosh_one", "bosh_two"]) expect(await asks(user, mine.path)).toBe("in\n");
    await expect(asks("bosh_one", other.path)).rejects.toThrow("Permission denied");
    await expect(asks("root", mine.path)).rejects.toThrow("Permission denied");
    await sshd.deleteUsers(/^bosh_one$/);
    await expect(asks("bosh_one", mine.path)).rejects.toThrow("Permission denied");
    expect(await asks("bosh_two", mine.path)).toBe("in\n");
    await sshd.deleteUsers(/^bosh_two$/);
    await expect(asks("bosh_two", mine.path)).rejects.toThrow("Connection refused");
  });

  it("refuses who has the public key without the private one", async () => {
    const { sshd, identity } = await vmWithoutSshd();
    const [mine, other] = [await identity("mine"), await identity("other")];
    const port = await sshd.createUser("bosh_abc", mine.key, "127.0.0.1");
    const signing = parsed(await readFile(other.path, "utf8"));
    const login = (agent: ForgingAgent) =>
      new Promise<string>((resolve) => {
        const client = new Client();
        client.once("ready", () => {
          client.end();
          resolve("let in");
        });
        client.once("error", (error: Error) => resolve(error.message));
        client.connect({ host: "127.0.0.1", port, username: "bosh_abc", agent });
      });
    expect(await login(new ForgingAgent(parsed(mine.key), signing))).toContain(
      "authentication methods failed",
    );
    expect(await login(new ForgingAgent(parsed(mine.key), parsed(await readFile(mine.path, "utf8"))))).toBe(
      "let in",
    );
  });
});
