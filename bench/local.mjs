// npm run bench:local: the cloud of `slipway up`: its start, one sandbox with a disk, twenty at once. Every figure stands
// beside the least that the machine needs for such a thing, measured in the same run.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { quick, report } from "./judge.mjs";
import { apiOf, deployment, furnish, isRoot, makeHome, up } from "./local-cloud.mjs";
import { median, startNode, wallTime } from "./measure.mjs";

const STARTS = quick ? 1 : 3;
const RECREATES = quick ? 1 : 5;
const MANY = quick ? 2 : 20;

const ms = (n) => (n < 10_000 ? `${n.toFixed(0)} ms` : `${(n / 1000).toFixed(1)} s`);
const mib = (n) => `${n.toFixed(1)} MiB`;
const UNSHARE = [...(isRoot ? [] : ["--user", "--map-root-user"]), "--mount", "--pid", "--ipc", "--fork"];

function timed(program, args) {
  const begun = process.hrtime.bigint();
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return Number(process.hrtime.bigint() - begun) / 1e6;
}

/** A disk of root's is a file system in a file: mounting one takes a loop device. Undefined: it cannot be made here. */
function loopImage(scratch) {
  if (!isRoot) return undefined;
  const image = join(scratch, "image");
  const made = spawnSync("sh", ["-c", 'truncate -s 64M "$1" && mkfs.ext4 -q -F "$1"', "sh", image]);
  return made.status === 0 ? image : undefined;
}

/** The least that a sandbox with an agent, and a disk in it, can cost. */
function bare(scratch, image) {
  for (const name of ["from", "to"]) mkdirSync(join(scratch, name), { recursive: true });
  return {
    node: wallTime(["-e", "0"]),
    sandbox: timed("unshare", [...UNSHARE, process.execPath, "-e", "0"]),
    mount: timed("unshare", [...UNSHARE, "mount", "--bind", join(scratch, "from"), join(scratch, "to")]),
    loop:
      image === undefined
        ? undefined
        : timed("unshare", [...UNSHARE, "mount", "-o", "loop", image, join(scratch, "to")]),
  };
}

/** Processes of the pid namespace of a process, by their share of memory that others use too (PSS). */
function memoryBeside(pid) {
  const namespace = (one) => {
    try {
      return readlinkSync(`/proc/${one}/ns/pid`);
    } catch {
      return "";
    }
  };
  const own = namespace(pid);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && namespace(name) === own)
    .reduce((sum, one) => sum + pss(one), 0);
}

function pss(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
}

/** As many Node processes that do nothing, at once: memory of one, and the time until all are there. */
async function idleNodes(count) {
  const begun = process.hrtime.bigint();
  const children = Array.from({ length: count }, () =>
    startNode(["-e", "setInterval(() => {}, 1e6); console.log()"], {
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
  await Promise.all(children.map((child) => new Promise((resolve) => child.stdout.once("data", resolve))));
  const spent = Number(process.hrtime.bigint() - begun) / 1e6;
  const each = median(children.map(({ pid }) => pss(pid)));
  for (const child of children) child.kill("SIGKILL");
  return { ms: spent, mib: each };
}

const ofKind = (lines, kind) => lines.filter(({ to }) => to === kind || to.startsWith(`${kind}:`));
const sum = (lines) => lines.reduce((total, line) => total + line.ms, 0);
const over = ({ at, ms: took }) => at + took;

/** A part of a conversation: how long it took, and who spent it. What nobody was asked for is the Director's. */
function part(lines, from, to) {
  const inside = lines.filter((line) => line.at >= from && over(line) <= to + 1 && line.to !== "director");
  const cpi = sum(ofKind(inside, "cpi"));
  const agent = sum(ofKind(inside, "agent"));
  const all = to - from;
  return { all, cpi, agent, director: Math.max(0, all - cpi - agent) };
}

function partsOf(lines) {
  const said = (message) => lines.find((line) => line.message === message);
  const made = said("create_vm");
  const attached = said("attach_disk");
  const answered = ofKind(lines, "agent").find(
    (line) => line.at >= over(made) - 1 && line.error === undefined,
  );
  const [whole] = ofKind(lines, "director");
  return {
    create: part(lines, made.at, over(answered)),
    mount: part(lines, attached.at, over(said("mount_disk"))),
    recreate: part(lines, whole.at, over(whole)),
  };
}

/** The round in the middle, so that its parts add up. */
const middle = (parts) => [...parts].sort((a, b) => a.all - b.all)[Math.floor(parts.length / 2)];

const home = makeHome();
let running;
const end = async () => {
  await running?.stop();
  home.remove();
};
try {
  const fresh = [];
  const later = [];
  const bares = [];
  for (let round = 0; round < STARTS; round++) {
    const other = makeHome();
    try {
      for (const times of [fresh, later]) {
        bares.push(bare(home.scratch));
        running = await up(other);
        times.push(running.ms);
        await running.stop();
      }
    } finally {
      await running?.stop();
      other.remove();
    }
  }

  running = await up(home);
  const api = await apiOf(running);
  await furnish(api, running);
  await api.task(deployment("one", 1, true));
  const disks = join(running.cloud, "disks");
  const isLoop = readdirSync(disks).some((disk) => existsSync(join(disks, disk, "image")));
  const image = isLoop ? loopImage(home.scratch) : undefined;
  const recreates = [];
  const loops = [];
  for (let round = 0; round < RECREATES; round++) {
    const least = bare(home.scratch, image);
    bares.push(least);
    if (least.loop !== undefined) loops.push(least.loop);
    const recreate = {
      method: "PUT",
      path: "/deployments/one/jobs/vm?state=recreate",
      type: "text/yaml",
      body: "",
    };
    recreates.push(partsOf(await api.task(recreate)));
  }
  await api.task({ method: "DELETE", path: "/deployments/one" });

  const nodes = await idleNodes(MANY);
  const [whole] = ofKind(await api.task(deployment("many", MANY, false)), "director");
  const vms = readdirSync(join(running.cloud, "vms"));
  const memory = vms.map((vm) =>
    memoryBeside(readFileSync(join(running.cloud, "vms", vm, "pid"), "utf8").trim()),
  );
  await api.task({ method: "DELETE", path: "/deployments/many" });

  const base = (name) => median(bares.map((one) => one[name]));
  const [create, mount, recreate] = ["create", "mount", "recreate"].map((name) =>
    middle(recreates.map((one) => one[name])),
  );
  const beside = (what, value, baseline, name, unit = ms) => ({
    what,
    ours: unit(value),
    baseline: `${unit(baseline)} ${name}`,
    ratio: value / baseline,
  });
  const ok = report(`The local cloud, as ${isRoot ? "root" : "an ordinary user"}`, [
    beside("up to /info, fresh home", median(fresh), base("node"), "node -e 0"),
    beside("up to /info, existing home", median(later), base("node"), "node -e 0"),
    beside("create_vm to agent answering", create.all, base("sandbox"), "unshare node -e 0"),
    beside("attach and mount a disk", mount.all, base("mount"), "unshare mount --bind"),
    ...(loops.length === 0
      ? []
      : [beside("the same, a loop device", mount.all, median(loops), "unshare mount -o loop")]),
    beside("recreate with a disk", recreate.all, base("sandbox"), "unshare node -e 0"),
    beside(`${MANY} sandboxes at once`, whole.ms, nodes.ms, `${MANY} idle Nodes`),
    beside("memory of one of them", median(memory), nodes.mib, "idle Node", mib),
  ]);
  process.exitCode = ok ? 0 : 1;
  console.log("\nWho spends it (what nobody else was asked for is the Director's):\n");
  const share = (one, key) =>
    `${ms(one[key]).padStart(8)} ${`${Math.round((100 * one[key]) / one.all)} %`.padStart(5)}`;
  console.log(`${"".padEnd(30)}${["Director", "CPI", "agent"].map((name) => name.padStart(16)).join("")}`);
  for (const [name, one] of [
    ["create_vm to agent answering", create],
    ["attach and mount a disk", mount],
    ["recreate with a disk", recreate],
  ])
    console.log(
      `${name.padEnd(30)}${["director", "cpi", "agent"].map((key) => share(one, key).padStart(16)).join("")}`,
    );
} finally {
  await end();
}
