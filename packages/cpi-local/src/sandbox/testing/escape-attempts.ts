import { systemRandom } from "@slipway/kernel/random";

/** Tells what one run has planted from what others have. */
export const mark = systemRandom.hex(4);

/** Runs what it finds in `/var/vcap/attack`, as a child of the agent, which an errand is, too. */
export const AGENT = `
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

/** Does not find itself. */
export const VICTIM = `9000${Number.parseInt(mark, 16)}`;
export const victims = `grep -l '[9]${VICTIM.slice(1)}' /proc/[0-9]*/cmdline 2> /dev/null | cut -d/ -f3 | head -n 1`;
export const connects = (to: string) =>
  `"$NODE" -e 'require("node:net").connect(${to}).on("connect", () => process.exit(0)).on("error", () => process.exit(1))'`;
const cgroup = (mount: string) =>
  `d=$(mktemp -d) && ${mount.replaceAll("AT", '"$d"')} && mkdir "$d/slipway-${mark}" && rmdir "$d/slipway-${mark}"`;
/** Numbers of system calls. */
const CALLS = process.arch === "arm64" ? [280, 106, 217, 219] : [321, 176, 248, 250];
const [BPF, DELETE_MODULE, ADD_KEY, KEYCTL] = CALLS;

/** Perl that plants the key which an attempt looks for. */
export const PLANT_KEY = `($t, $n, $p) = ("user", "slipway-${mark}", "planted"); syscall(${ADD_KEY}, $t, $n, $p, 7, -5)`;

/**
 * Attempts to reach the host: each ends with 0 if it has. The control runs the same text on the host itself, and shows that
 * the attempt is real: `always`, for `root`, or `if` the kernel and the user of
 * this run can do it at all.
 */
export interface Attempt {
  readonly what: string;
  readonly attack: string;
  readonly control: "always" | "root" | "if";
  /** Only sandboxes of root keep it out. An ordinary user's root is that user: docs/sandbox-boundary.md. */
  readonly root?: true;
  /** Only where users are mapped: its root has the number of the host's root otherwise. */
  readonly mapped?: true;
  /** Needs the directory that both see. */
  readonly planted?: true;
}

/** Lists the attempts; `at` names what is planted in the directory that both see. */
export const attempts = (at: (name: string) => string): readonly Attempt[] => [
  {
    what: "the control groups of the host",
    attack: cgroup("mount -t cgroup2 none AT"),
    control: "if",
  },
  {
    what: "the control groups of the host with a cgroup namespace of its own",
    attack: `unshare --cgroup --mount sh -c '${cgroup("mount -t cgroup2 none AT")}'`,
    control: "root",
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
    control: "root",
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
    control: "root",
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
    control: "root",
  },
  {
    what: "the mounts of a process of the host",
    attack: `pid=$(${victims}) && nsenter --mount=/proc/$pid/ns/mnt true`,
    control: "root",
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
