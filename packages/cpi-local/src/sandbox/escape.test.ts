import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { eventually } from "@slipway/testkit/eventually";
import { isRoot, LocalCloud, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const trouble = await sandboxTrouble();
const possible = needs("userns", trouble === undefined, trouble);

/** Runs what it finds in `/var/vcap/attack`, as a child of the agent, which an errand is, too. */
const AGENT = `
const fs = require("node:fs");
const { spawnSync } = require("node:child_process");
fs.appendFileSync("/var/vcap/starts", process.pid + "\\n");
setInterval(() => {
  if (!fs.existsSync("/var/vcap/attack")) return;
  const script = fs.readFileSync("/var/vcap/attack", "utf8");
  fs.unlinkSync("/var/vcap/attack");
  const { status, stdout, stderr } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  fs.writeFileSync("/var/vcap/said.new", JSON.stringify({ code: status, stdout, stderr }));
  fs.renameSync("/var/vcap/said.new", "/var/vcap/said");
}, 10);
`;

type Said = Awaited<ReturnType<Exec>>;
const mark = systemRandom.hex(4);
/** Does not find itself. */
const VICTIM = `9000${Number.parseInt(mark, 16)}`;
const victims = `grep -l '[9]${VICTIM.slice(1)}' /proc/[0-9]*/cmdline 2> /dev/null | cut -d/ -f3 | head -n 1`;
const connects = (to: string) =>
  `"$NODE" -e 'require("node:net").connect(${to}).on("connect", () => process.exit(0)).on("error", () => process.exit(1))'`;
const cgroup = (mount: string) =>
  `d=$(mktemp -d) && ${mount.replaceAll("AT", '"$d"')} && mkdir "$d/slipway-${mark}" && rmdir "$d/slipway-${mark}"`;
/** Numbers of system calls. */
const CALLS = process.arch === "arm64" ? [280, 106, 217, 219] : [321, 176, 248, 250];
const [BPF, DELETE_MODULE, ADD_KEY, KEYCTL] = CALLS;

/** A directory of this host that sandboxes see, or none where the user has no such place. */
async function visibleDirectory(): Promise<string | undefined> {
  for (const below of ["/opt", homedir(), process.cwd()])
    if (!/^\/(?:tmp|var\/tmp|run|dev)(?:\/|$)/.test(below)) {
      const made = await mkdtemp(join(below, "slipway-escape-")).catch(() => undefined);
      if (made !== undefined) return made;
    }
  return undefined;
}
const visible = possible ? await visibleDirectory() : undefined;
const at = (name: string) => join(visible ?? "/nowhere", name);

/**
 * Attempts to reach the host: each ends with 0 if it has. The control runs the same text on the host itself, and shows that
 * the attempt is real: `always`, or `if` the kernel and the user of this run can do it at all.
 */
interface Attempt {
  readonly what: string;
  readonly attack: string;
  readonly control: "always" | "if";
  /** Only sandboxes of root keep it out. An ordinary user's root is that user: docs/sandbox-boundary.md. */
  readonly root?: true;
  /** Only where users are mapped: its root has the number of the host's root otherwise. */
  readonly mapped?: true;
  /** Needs the directory that both see. */
  readonly planted?: true;
}

/** A file system whose owners cannot be mapped, shared with the sandbox, stands for a host that cannot do it. */
const UNMAPPABLE = "/sys/class";
const KINDS = isRoot
  ? [
      { kind: "root has started", share: [] },
      { kind: "root has started where users cannot be mapped", share: [UNMAPPABLE] },
    ]
  : [{ kind: "an ordinary user has started", share: [] }];

const ATTEMPTS: readonly Attempt[] = [
  {
    what: "the control groups of the host",
    attack: cgroup("mount -t cgroup2 none AT"),
    control: "if",
  },
  {
    what: "the control groups of the host with a cgroup namespace of its own",
    attack: `unshare --cgroup --mount sh -c '${cgroup("mount -t cgroup2 none AT")}'`,
    control: "if",
  },
  {
    what: "the control groups of the host from a further user namespace",
    attack: `unshare --user --map-root-user --cgroup --mount sh -c '${cgroup("mount -t cgroup2 none AT")}'`,
    control: "if",
  },
  {
    what: "the freezer and the release_agent of the host",
    attack: `unshare --cgroup --mount sh -c '${cgroup("mount -t cgroup -o freezer none AT")}'`,
    control: "if",
  },
  { what: "a terminal of the host", attack: "echo > PTS", control: "always" },
  {
    what: "a device node in a directory of the host",
    attack: `head -c 1 ${at("zero")}`,
    control: "if",
    root: true,
  },
  {
    what: "a disk of the host by a device node",
    attack: `[ "$(head -c 1 ${at("disk")} | wc -c)" = 1 ]`,
    control: "if",
    root: true,
  },
  {
    what: "the file system of a disk of the host",
    attack: `d=$(mktemp -d) && mount -t ext4 -o ro ${at("disk")} "$d" && ls "$d/lost+found"`,
    control: "if",
    root: true,
  },
  {
    what: "a device node of its own making",
    attack: 'd=$(mktemp -d) && mknod "$d/z" c 1 5 && head -c 1 "$d/z"',
    control: "if",
  },
  { what: "a socket of the host", attack: connects(`"${at("socket")}"`), control: "always", planted: true },
  {
    what: "a private socket that was made after it was started",
    attack: connects(`"${at("late")}"`),
    control: "always",
    planted: true,
    root: true,
    mapped: true,
  },
  {
    what: "a private file of the host",
    attack: `cat ${at("secret")}`,
    control: "always",
    planted: true,
    root: true,
    mapped: true,
  },
  {
    what: "a directory of the host to write to",
    attack: `: > ${at("written")}`,
    control: "always",
    planted: true,
  },
  { what: "sysrq", attack: "[ ! -c /proc/sysrq-trigger ] && : > /proc/sysrq-trigger", control: "if" },
  {
    what: "the program for core dumps",
    attack:
      "was=$(cat /proc/sys/kernel/core_pattern) && printf '%s' \"$was\" > /proc/sys/kernel/core_pattern",
    control: "if",
  },
  { what: "a process of the host with a signal", attack: `kill -0 $(${victims})`, control: "always" },
  {
    what: "the root of a process of the host",
    attack: `pid=$(${victims}) && ls /proc/$pid/root/`,
    control: "if",
  },
  {
    what: "the mounts of a process of the host",
    attack: `pid=$(${victims}) && nsenter --mount=/proc/$pid/ns/mnt true`,
    control: "if",
  },
  { what: "the memory of the machine", attack: "head -c 1 /dev/mem", control: "if" },
  { what: "the log of the kernel", attack: "[ -c /dev/kmsg ] && : > /dev/kmsg", control: "if" },
  { what: "files of another sandbox", attack: "cat CANARY", control: "always" },
  {
    what: "the BPF programs of the kernel",
    attack: `perl -e '$a = pack("L4", 0, 0, 0, 0); exit(syscall(${BPF}, 11, $a, 16) == 0 || $!{ENOENT} ? 0 : 1)'`,
    control: "if",
  },
  {
    what: "the modules of the kernel",
    attack: `perl -e '$n = "slipway_none"; syscall(${DELETE_MODULE}, $n, 0x800); exit($!{ENOENT} ? 0 : 1)'`,
    control: "if",
  },
  {
    what: "a key of the session that has started it",
    attack: `perl -e '($t, $n) = ("user", "slipway-${mark}"); exit(syscall(${KEYCTL}, 10, -3, $t, $n, 0) > 0 ? 0 : 1)'`,
    control: "if",
  },
];

describe.runIf(possible).each(KINDS)("root of a sandbox that $kind", ({ share }) => {
  let cloud: LocalCloud;
  let vm: string;
  let other: string;
  let pts: string;
  const children: ChildProcess[] = [];
  const servers: Server[] = [];
  let loop = "";

  const listen = async (path: string, mode: number): Promise<void> => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(path, resolve));
    if (!path.startsWith("\0")) await chmod(path, mode);
    servers.push(server);
  };

  /** A terminal with a process of its own on it. */
  const terminal = async (): Promise<string> => {
    const child = spawn("script", ["-qfc", `tty; exec sleep ${VICTIM}`, "/dev/null"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    children.push(child);
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    return await eventually("a terminal", () => /\/dev\/pts\/\d+/.exec(said)?.[0]);
  };

  const plant = async (): Promise<void> => {
    if (visible === undefined) return;
    await chmod(visible, 0o755);
    await writeFile(at("secret"), "secret", { mode: 0o600 });
    await listen(at("socket"), 0o777);
    if (!isRoot) return;
    await systemExec("mknod", ["-m", "666", at("zero"), "c", "1", "5"]);
    await systemExec("truncate", ["-s", "8M", at("image")]);
    await systemExec("mkfs.ext4", ["-q", "-F", at("image")]);
    const { code, stdout } = await systemExec("losetup", ["--find", "--show", at("image")]);
    if (code !== 0) return;
    loop = stdout.trim();
    await systemExec("cp", ["-a", loop, at("disk")]);
    await systemExec("chmod", ["666", at("disk")]);
  };

  const attempted = async (script: string): Promise<Said> => {
    const said = cloud.vm(vm, "vcap", "said");
    await rm(said, { force: true });
    await writeFile(cloud.vm(vm, "vcap", "attack.new"), `NODE=/run/slipway/node\n${script}`);
    await rename(cloud.vm(vm, "vcap", "attack.new"), cloud.vm(vm, "vcap", "attack"));
    await eventually("the end of an attempt", () => existsSync(said) || undefined);
    return JSON.parse(readFileSync(said, "utf8")) as Said;
  };

  /** On the host, in mounts of its own if it may have some. */
  const controlled = (script: string): Promise<Said> => {
    const own = isRoot ? ["unshare", "--mount"] : ["env"];
    const [program = "", ...args] = [...own, "sh", "-c", `NODE='${process.execPath}'\n${script}`];
    return systemExec(program, args);
  };

  const whole = (attack: string): string =>
    attack.replaceAll("PTS", pts).replaceAll("CANARY", `'${cloud.vm(other, "vcap", "canary")}'`);

  beforeAll(async () => {
    cloud = await LocalCloud.open({ share });
    await writeFile(join(cloud.dir, "agent.cjs"), AGENT);
    pts = await terminal();
    await plant();
    const key = `($t, $n, $p) = ("user", "slipway-${mark}", "planted"); syscall(${ADD_KEY}, $t, $n, $p, 7, -5)`;
    await systemExec("perl", ["-e", key]);
    vm = await cloud.newVm();
    other = await cloud.newVm();
    await writeFile(cloud.vm(other, "vcap", "canary"), "canary");
    if (visible !== undefined) await listen(at("late"), 0o600);
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const server of servers) server.close();
    if (loop !== "") await systemExec("losetup", ["--detach", loop]);
    await cloud.close();
    for (const name of visible === undefined
      ? []
      : ["zero", "disk", "image", "socket", "late", "secret", "written"])
      await rm(at(name), { force: true });
  });

  const here = ATTEMPTS.filter(
    ({ root, mapped, planted }) =>
      (isRoot || root === undefined) &&
      (share.length === 0 || mapped === undefined) &&
      (visible !== undefined || planted === undefined),
  );
  it.each(here)("does not reach $what", async ({ attack, control }) => {
    const real = await controlled(whole(attack));
    if (control === "always") expect(real, "on the host itself").toMatchObject({ code: 0 });
    const tried = await attempted(whole(attack));
    expect(tried.code, `${tried.stdout}${tried.stderr} (on the host itself: ${real.code})`).not.toBe(0);
  });

  it("still has terminals, devices and accounts of its own", async () => {
    const { code, stdout, stderr } = await attempted(`
      set -e
      script -qec 'echo on $(tty)' /dev/null < /dev/null
      head -c 1 /dev/zero > /dev/null
      mkdir -p /var/vcap/data/x
      [ "$(stat -c %u /var/vcap/data)" = 0 ]
      ${isRoot ? "chown 1000:1000 /var/vcap/data/x && setpriv --reuid 1000 --regid 1000 --clear-groups touch /var/vcap/data/x/y && su nobody -s /bin/sh -c true" : ""}
    `);
    expect({ code, stderr, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("on /dev/pts/0"),
    });
  });

  it.runIf(isRoot && share.length === 0)(
    "has ids that are nobody's outside, and other than those of another sandbox",
    async () => {
      const idOf = (cid: string) =>
        Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${cloud.pid(cid)}/status`, "utf8"))?.[1]);
      expect(idOf(vm)).toBeGreaterThan(65_536);
      expect(idOf(other)).not.toBe(idOf(vm));
    },
  );

  it.runIf(share.length > 0)("says in its log that its root has the number of the host's root", async () => {
    expect(await cloud.result("get_vm_log", [vm])).toContain("users cannot be mapped here");
  });
});

afterAll(async () => {
  if (visible !== undefined) await rm(visible, { recursive: true, force: true });
});

const netns = needs("root-netns", isRoot && possible, "only root gives sandboxes networks of their own");
describe.runIf(netns)("root of a sandbox with a network of its own", () => {
  let cloud: LocalCloud;
  let vm: string;
  const servers: Server[] = [];
  beforeAll(async () => {
    cloud = await LocalCloud.open();
    const octet = 1 + (Number.parseInt(mark, 16) % 250);
    const network = {
      type: "manual",
      ip: `10.213.${octet}.5`,
      netmask: "255.255.255.0",
      gateway: `10.213.${octet}.1`,
    };
    const args = ["agent-net", await cloud.newStemcell(), {}, { private: network }, [], {}];
    [vm] = await cloud.result<[string]>("create_vm", args);
    for (const place of [{ path: `\0slipway-${mark}` }, { port: 0, host: "127.0.0.1" }]) {
      const server = createServer((socket) => socket.end());
      await new Promise<void>((resolve) => server.listen(place, resolve));
      servers.push(server);
    }
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await cloud.close();
  });

  it.each(["an abstract socket of the host", "a port of the host's loopback"])(
    "does not reach %s",
    async (what) => {
      const address = servers[1]?.address();
      const port = typeof address === "object" ? address?.port : 0;
      const to = what.includes("abstract") ? `{ path: "\\0slipway-${mark}" }` : `${port}, "127.0.0.1"`;
      const run = (node: string) => `NODE='${node}'\n${connects(to)}`;
      expect((await systemExec("sh", ["-c", run(process.execPath)])).code).toBe(0);
      expect((await cloud.inside(vm, run("/run/slipway/node"))).code).not.toBe(0);
    },
  );
});
