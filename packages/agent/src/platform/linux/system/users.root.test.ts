import { mkdir, readdir, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { holdMachine } from "@slipway/testkit/hold-machine";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linuxSystem } from "./linux-system.ts";
import { type TestMachine, testMachine } from "./testing/machine.ts";

/** The real programs, each in a mount namespace whose `/etc` (or one file) is the test's: no user of this machine changes. */
const unshare = (source: string, target: string, program: string, args: readonly string[]) =>
  [
    "unshare",
    [
      "--mount",
      "--",
      "sh",
      "-ec",
      'mount --bind "$1" "$2"; shift 2; exec "$@"',
      "sh",
      source,
      target,
      program,
      ...args,
    ],
  ] as const;

const withEtc =
  (machine: TestMachine): Exec =>
  (program, args, options) =>
    systemExec(...unshare(machine.paths.system("etc"), "/etc", program, args), options);

const release = await holdMachine();
const probe = await Promise.all(
  ["useradd", "usermod", "userdel", "chpasswd"].map((program) =>
    systemExec(...unshare("/etc", "/etc", "which", [program])).then(
      ({ code }) => code === 0,
      () => false,
    ),
  ),
);
await release();
const ready = needs(
  "root-mounts",
  !probe.includes(false),
  "it takes root, unshare --mount and the programs of passwd",
);

async function users() {
  const machine = await testMachine();
  const names = ["vcap", "admin", "bosh_sudoers", "bosh_sshers"];
  await machine.write(
    "etc/passwd",
    "root:x:0:0:root:/root:/bin/bash\nvcap:x:1000:1000::/home/vcap:/bin/bash\n",
  );
  await machine.write("etc/shadow", "root:*:19000:0:99999:7:::\nvcap:*:19000:0:99999:7:::\n");
  await machine.write(
    "etc/group",
    ["root:x:0:", ...names.map((name, at) => `${name}:x:${1000 + at}:`), ""].join("\n"),
  );
  await machine.write("etc/gshadow", ["root:*::", ...names.map((name) => `${name}:!::`), ""].join("\n"));
  // useradd writes homes as the machine sees them; the agent looks for them below the root.
  await mkdir(dirname(join(machine.paths.root, machine.paths.root)), { recursive: true });
  await symlink(machine.paths.root, join(machine.paths.root, machine.paths.root));
  return { machine, os: linuxSystem({ ...machine, exec: withEtc(machine), clock: systemClock }) };
}

describe.runIf(ready)("the real programs", () => {
  let letGo: () => Promise<void>;
  beforeAll(async () => {
    letGo = await holdMachine();
  });
  afterAll(() => letGo());

  it("create an ssh user with its groups and key, and delete it with its home", async () => {
    const { machine, os } = await users();
    await os.createSshUser("bosh_0f3a-x", "ssh-ed25519 AAAA me", "10.0.0.5");
    const home = join(machine.paths.base, "bosh_ssh", "bosh_0f3a-x");
    expect(await machine.read("etc/passwd")).toContain(`:${home}:/bin/bash`);
    expect((await machine.read("etc/group")).match(/:bosh_0f3a-x$/gm)).toHaveLength(4);
    const key = await stat(join(home, ".ssh", "authorized_keys"));
    expect(key.mode & 0o777).toBe(0o600);
    expect(key.uid).toBe((await stat(home)).uid);
    expect(key.uid).toBeGreaterThan(0);

    await os.deleteSshUsers(/.*/);
    expect(await machine.read("etc/passwd")).not.toContain("bosh_0f3a-x");
    expect(await machine.read("etc/passwd")).toContain("vcap:");
    expect(await readdir(dirname(home))).toEqual([]);
  });

  it("take a password hash as it is, and lock one", async () => {
    const { machine, os } = await users();
    const hash = "$6$salt$Kx0.JgRf/8uZq1";
    await os.setPassword("vcap", hash);
    expect(await machine.read("etc/shadow")).toContain(`vcap:${hash}:`);
    await os.setPassword("vcap", "");
    expect(await machine.read("etc/shadow")).toContain("vcap:*:");
  });
});
