import { appendFile, lstat, mkdir, stat, symlink } from "node:fs/promises";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import {
  HostKeyMissing,
  InvalidSecret,
  InvalidUserName,
  InvalidUserPattern,
  UnknownUser,
  UnsafePath,
} from "../../system-errors.ts";
import { linuxSystem } from "./linux-system.ts";
import { type ProgramCall, testMachine } from "./testing/machine.ts";
import { matchingNames } from "./user-pattern.ts";

const HASH = "$6$canary$Kx0.JgRf/8uZq1";
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIcanary me@there";
// The test's own ids, so that it may give files to them without being root.
const ids = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;

async function system(
  answer: (call: ProgramCall) => ReturnType<Parameters<typeof testMachine>[0] & object> = () => undefined,
) {
  const machine = await testMachine(answer);
  await machine.write("etc/passwd", `root:x:0:0:root:/root:/bin/bash\nvcap:x:${ids}::/home/vcap:/bin/bash\n`);
  await machine.write(
    "etc/group",
    "root:x:0:\nvcap:x:1000:\nadmin:x:1001:\nbosh_sudoers:x:1002:\nbosh_sshers:x:1003:\n",
  );
  await mkdir(machine.paths.system("home/vcap"), { recursive: true });
  return { machine, system: linuxSystem({ ...machine, clock: fakeClock() }) };
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe("passwords", () => {
  it("travel on standard input, never as an argument", async () => {
    const { machine, system: os } = await system();
    await os.setPassword("vcap", HASH);
    expect(machine.lines()).toEqual(["chpasswd -e"]);
    expect(machine.calls[0]?.options.input).toBe(`vcap:${HASH}\n`);
    expect(JSON.stringify(machine.calls[0]?.options.env ?? {})).not.toContain("canary");
  });

  it("are locked by an empty hash", async () => {
    const { machine, system: os } = await system();
    await os.setPassword("root", "");
    expect(machine.calls[0]?.options.input).toBe("root:*\n");
  });

  it.each([`${HASH}\nroot:x`, `${HASH}:0`, "two words", "\u0000"])(
    "that would say more are refused",
    async (hash) => {
      const { machine, system: os } = await system();
      const failure = await os.setPassword("vcap", hash).catch((error: unknown) => error);
      expect(failure).toSatisfy(InvalidSecret.is);
      expect(String(failure)).not.toContain("canary");
      expect(machine.calls).toEqual([]);
    },
  );

  it.each(["", "-r", "a:b", "a\nb", "../x"])("are not set for a user named %j", async (user) => {
    const { machine, system: os } = await system();
    await expect(os.setPassword(user, HASH)).rejects.toSatisfy(InvalidUserName.is);
    expect(machine.calls).toEqual([]);
  });
});

describe("authorized keys", () => {
  it("replace those before, readable by their user alone", async () => {
    const { machine, system: os } = await system();
    await os.setAuthorizedKeys("vcap", ["ssh-rsa old"]);
    await os.setAuthorizedKeys("vcap", [`${KEY}\n`, "", "ssh-rsa two\nssh-rsa three"]);
    expect(await machine.read("home/vcap/.ssh/authorized_keys")).toBe(`${KEY}\nssh-rsa two\nssh-rsa three\n`);
    expect(await modeOf(machine.paths.system("home/vcap/.ssh/authorized_keys"))).toBe(0o600);
    expect(await modeOf(machine.paths.system("home/vcap/.ssh"))).toBe(0o700);
  });

  it("are not written through a link that a user put in place of the directory", async () => {
    const { machine, system: os } = await system();
    await mkdir(machine.paths.system("root"));
    await symlink(machine.paths.system("root"), machine.paths.system("home/vcap/.ssh"));
    await expect(os.setAuthorizedKeys("vcap", [KEY])).rejects.toSatisfy(UnsafePath.is);
  });

  it("replace a link in place of the file instead of following it", async () => {
    const { machine, system: os } = await system();
    await machine.write("etc/shadow", "precious");
    await mkdir(machine.paths.system("home/vcap/.ssh"));
    await symlink(machine.paths.system("etc/shadow"), machine.paths.system("home/vcap/.ssh/authorized_keys"));
    await os.setAuthorizedKeys("vcap", [KEY]);
    expect(await machine.read("etc/shadow")).toBe("precious");
    expect((await lstat(machine.paths.system("home/vcap/.ssh/authorized_keys"))).isFile()).toBe(true);
  });

  it("need a user", async () => {
    const { system: os } = await system();
    await expect(os.setAuthorizedKeys("nobody-here", [KEY])).rejects.toSatisfy(UnknownUser.is);
  });
});

/** Makes a system on which `useradd` writes passwd and a home directory. */
const withUseradd = (async () => {
  const made = await system(async ({ program, args }) => {
    if (program !== "useradd") return undefined;
    const name = args.at(-1) ?? "";
    await appendFile(
      made.machine.paths.system("etc/passwd"),
      `${name}:x:${ids}::/var/vcap/bosh_ssh/${name}:/bin/bash\n`,
    );
    await mkdir(made.machine.paths.system("var/vcap/bosh_ssh", name));
    return undefined;
  });
  return made;
}) satisfies typeof system;

describe("ssh users", () => {
  it("are created with upstream's home, shell and groups, and their key", async () => {
    const { machine, system: os } = await withUseradd();
    await os.createSshUser("bosh_ab-12", `${KEY}\n`, "10.0.0.5");
    expect(machine.lines()).toEqual([
      `useradd -m -b ${machine.paths.base}/bosh_ssh -s /bin/bash bosh_ab-12`,
      "usermod -G vcap,admin,bosh_sudoers,bosh_sshers bosh_ab-12",
    ]);
    const home = machine.paths.system("var/vcap/bosh_ssh/bosh_ab-12");
    expect(await modeOf(home)).toBe(0o700);
    expect(await machine.read("var/vcap/bosh_ssh/bosh_ab-12/.ssh/authorized_keys")).toBe(`${KEY}\n`);

    await os.createSshUser("bosh_ab-12", "ssh-rsa renewed", "10.0.0.5");
    expect(machine.lines().filter((line) => line.startsWith("useradd"))).toHaveLength(1);
    expect(await machine.read("var/vcap/bosh_ssh/bosh_ab-12/.ssh/authorized_keys")).toBe("ssh-rsa renewed\n");
  });

  it("get the groups that the machine has", async () => {
    const { machine, system: os } = await withUseradd();
    await machine.write("etc/group", "root:x:0:\nvcap:x:1000:\n");
    await os.createSshUser("bosh_x", KEY, "10.0.0.5");
    expect(machine.lines().at(-1)).toBe("usermod -G vcap bosh_x");
    expect(machine.log.warnings.join()).toContain("admin, bosh_sudoers, bosh_sshers");
  });

  it.each([
    "root",
    "vcap",
    "bosh_",
    "-bosh_x",
    "bosh_x;id",
    "bosh_x\nroot",
    "bosh_../x",
    `bosh_${"x".repeat(33)}`,
    "xbosh_a",
  ])("are never named %j", async (user) => {
    const { machine, system: os } = await system();
    await expect(os.createSshUser(user, KEY, "10.0.0.5")).rejects.toSatisfy(InvalidUserName.is);
    expect(machine.calls).toEqual([]);
  });

  it.each(["", "ssh-rsa a\nssh-rsa b", "ssh-rsa a\u0000"])("have one key, not %j", async (key) => {
    const { machine, system: os } = await system();
    await expect(os.createSshUser("bosh_x", key, "10.0.0.5")).rejects.toSatisfy(InvalidSecret.is);
    expect(machine.calls).toEqual([]);
  });

  it("are deleted if they match, and no others are, whatever the pattern says", async () => {
    const { machine, system: os } = await system();
    await appendFile(
      machine.paths.system("etc/passwd"),
      "bosh_a:x:1:1::/h:/s\nbosh_b:x:1:1::/h:/s\nxbosh_a:x:1:1::/h:/s\n",
    );
    await os.deleteSshUsers(/a$/g);
    expect(machine.lines()).toEqual(["userdel -rf bosh_a"]);
    await os.deleteSshUsers(/.*/);
    expect(machine.lines().slice(1)).toEqual(["userdel -rf bosh_a", "userdel -rf bosh_b"]);
  });

  it("may be gone already, but fail the call if they stay", async () => {
    const gone = await system(() => ({ code: 6 }));
    await appendFile(gone.machine.paths.system("etc/passwd"), "bosh_a:x:1:1::/h:/s\n");
    await expect(gone.system.deleteSshUsers(/^bosh_a/)).resolves.toBeUndefined();

    const stuck = await system(() => ({ code: 8, stderr: "user is busy" }));
    await appendFile(stuck.machine.paths.system("etc/passwd"), "bosh_a:x:1:1::/h:/s\n");
    await expect(stuck.system.deleteSshUsers(/^bosh_a/)).rejects.toThrow("user is busy");
  });
});

describe("a user pattern", () => {
  it("is interrupted if it never ends", () => {
    const names = [`bosh_${"a".repeat(40)}`];
    expect(() => matchingNames(/^(\w+)+!$/, names)).toThrow(expect.toSatisfy(InvalidUserPattern.is));
  });

  it("cannot be fooled by names that hold quotes", () => {
    expect(matchingNames(/^bosh_/, [`bosh_"'\\`, "other"])).toEqual([`bosh_"'\\`]);
  });
});

describe("the host's public key", () => {
  it("is the RSA key, or another if there is no RSA key", async () => {
    const { machine, system: os } = await system();
    await expect(os.hostPublicKey()).rejects.toSatisfy(HostKeyMissing.is);
    await machine.write("etc/ssh/ssh_host_ed25519_key.pub", "ssh-ed25519 AAA\n");
    expect(await os.hostPublicKey()).toBe("ssh-ed25519 AAA");
    await machine.write("etc/ssh/ssh_host_rsa_key.pub", "ssh-rsa BBB\n");
    expect(await os.hostPublicKey()).toBe("ssh-rsa BBB");
  });
});
