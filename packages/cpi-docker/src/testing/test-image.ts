import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@slipway/kernel/clock";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { withLock } from "@slipway/kernel/lock-file";

/** What our agent, the keeper and the tests run, taken from this machine. */
const PROGRAMS = [
  "awk basename bash blkid blockdev cat chmod chown cp cut date dd df dirname dmesg e2fsck echo env expr false flock",
  "fsfreeze grep head hostname id ip kill ln losetup ls md5sum mkdir mke2fs mkfs.ext4 mknod mount mountpoint mv ps",
  "readlink resize2fs rm rmdir sed sh sha256sum sleep sort stat sync tail tar tee timeout touch tr true truncate umount wc",
].join(" ");

const AGENT_JSON = {
  Platform: { Linux: { SkipDiskSetup: true, UseWholePersistentDisk: true, UseDefaultTmpDir: true } },
  Infrastructure: {
    Settings: { Sources: [{ Type: "File", SettingsPath: "/var/vcap/bosh/warden-cpi-agent-env.json" }] },
  },
};

/** Starts the agent again when it ends, and stays off once it was told to shut down. */
const INIT = `#!/bin/sh
power=/var/lib/slipway/power
mkdir -p /var/lib/slipway
trap 'kill -TERM "$child" 2>/dev/null; exit 0' TERM
while :; do
  if [ "$(cat "$power" 2>/dev/null)" = off ]; then
    sleep 86400 & child=$!
  else
    node /usr/lib/slipway/slipway-agent.cjs --platform linux & child=$!
  fi
  wait "$child" || sleep 1
done
`;

/** Everything ends, the container with it; started again by its policy, it stays off. */
const SHUTDOWN = `#!/bin/sh
echo off >/var/lib/slipway/power
kill -KILL -1
`;

const AGENT_BUNDLE = fileURLToPath(new URL("../../../agent/dist/slipway-agent.cjs", import.meta.url));

/** A root file system with our agent in it, made once for all suites. The path of its tar. */
export async function testImage(): Promise<string> {
  const inputs = [
    readFileSync(AGENT_BUNDLE),
    PROGRAMS,
    INIT,
    SHUTDOWN,
    JSON.stringify(AGENT_JSON),
    process.version,
  ];
  const hash = inputs.reduce((sum, input) => sum.update(input), createHash("sha256"));
  const tar = join(tmpdir(), `slipway-docker-image-${hash.digest("hex").slice(0, 16)}.tar`);
  await withLock(`${tar}.lock`, { clock: systemClock, waitMs: 60_000 }, async () => {
    if (existsSync(tar)) return;
    const dir = await mkdtemp(join(tmpdir(), "slipway-docker-root-"));
    await rename(await make(dir), tar);
    await rm(dir, { recursive: true });
  });
  return tar;
}

/** Of this machine's programs. */
async function make(dir: string): Promise<string> {
  const root = join(dir, "root");
  for (const path of [
    "usr/bin",
    "usr/sbin",
    "usr/lib/slipway",
    "etc",
    "tmp",
    "proc",
    "sys",
    "dev",
    "run",
    "root",
  ])
    await mkdir(join(root, path), { recursive: true });
  for (const path of ["bin", "sbin", "lib", "lib64"])
    await symlink(
      path === "bin" ? "usr/bin" : path === "sbin" ? "usr/sbin" : `usr/${path}`,
      join(root, path),
    );
  await mkdir(join(root, "usr/lib64"));
  await mkdir(join(root, "var/vcap/bosh"), { recursive: true });
  const found = await systemExec("which", PROGRAMS.split(" "));
  const programs = found.stdout.split("\n").filter((path) => path !== "");
  for (const path of programs)
    await cp(await realpath(path), join(root, "usr/bin", path.split("/").at(-1) ?? ""));
  await cp(process.execPath, join(root, "usr/bin/node"));
  const linked = await systemExec("ldd", [...programs, process.execPath]);
  const libraries = new Set([...linked.stdout.matchAll(/(\/\S+\.so\S*)/g)].map(([, path = ""]) => path));
  for (const path of libraries) {
    const to = join(root, path);
    await mkdir(dirname(to), { recursive: true });
    await cp(await realpath(path), to);
  }
  await cp(AGENT_BUNDLE, join(root, "usr/lib/slipway/slipway-agent.cjs"));
  await writeFile(join(root, "usr/sbin/init"), INIT, { mode: 0o755 });
  await writeFile(join(root, "usr/sbin/shutdown"), SHUTDOWN, { mode: 0o755 });
  // The real one needs PAM, and no test looks at passwords.
  await writeFile(join(root, "usr/sbin/chpasswd"), "#!/bin/sh\ncat >/dev/null\n", { mode: 0o755 });
  await writeFile(
    join(root, "etc/passwd"),
    "root:x:0:0:root:/root:/bin/sh\nvcap:x:1000:1000::/home/vcap:/bin/sh\n",
  );
  await writeFile(join(root, "etc/group"), "root:x:0:\nadmin:x:999:vcap\nvcap:x:1000:\n");
  await writeFile(join(root, "var/vcap/bosh/agent.json"), JSON.stringify(AGENT_JSON));
  const tar = join(dir, "image.tar");
  await mustRun(systemExec, "packing the test image", "tar", [
    "--owner=0",
    "--group=0",
    "-C",
    root,
    "-cf",
    tar,
    ".",
  ]);
  return tar;
}
