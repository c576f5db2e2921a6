// npm run crash:local: kills the Director during the demo, and create-env, with kill -9 at moments chosen by a seed. Runs
// each again and checks that it completes, and that nothing stray is left: no process, mount, loop device, VM or disk.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePort } from "./free-port.mjs";

const { values } = parseArgs({
  options: { kills: { type: "string" }, seed: { type: "string" }, only: { type: "string" } },
});
const kills = Number(values.kills ?? 20);
const seed = values.seed ?? String(Math.floor(Math.random() * 1e6));
const random = seeded(seed);
const slipway = resolve("packages/cli/dist/slipway.cjs");
const isRoot = process.getuid() === 0;
const LONGEST_MS = 120_000;

/** What is killed: how it begins, how it is known to have ended well, and what must be there then. */
const STORIES = {
  demo: {
    prepare: async () => ({ port: await freePort() }),
    args: ({ port }) => ["demo", "--port", String(port)],
    /** It goes on as a server. */
    complete: /Ctrl-C/,
    cloud: (dir) => join(dir, "cloud"),
    sandboxes: 2,
    close: (child) => child.kill("SIGINT"),
  },
  "create-env": {
    prepare: async (dir) => {
      const made = run(["stemcell", "build", "--out", join(dir, "stemcell.tgz")], dir);
      if (made.status !== 0) throw new Error(made.stderr);
      writeFileSync(join(dir, "env.yml"), environment(80 + Math.floor(random() * 100)));
      return {};
    },
    args: () => ["create-env", "env.yml"],
    complete: /Succeeded/,
    cloud: (dir) => join(dir, "cloud"),
    sandboxes: 1,
    close: () => undefined,
    /** Kills it once more while it is taken down. */
    takeDown: ["delete-env", "env.yml"],
  },
};

const environment = (octet) => `name: crash
networks:
- name: default
  type: manual
  subnets: [{range: 127.${octet}.7.0/24, gateway: 127.${octet}.7.1, dns: []}]
resource_pools:
- name: vms
  network: default
  stemcell: {url: file://stemcell.tgz}
  cloud_properties: {}
disk_pools:
- {name: disks, disk_size: 64, cloud_properties: {}}
instance_groups:
- name: db
  instances: 1
  jobs: []
  resource_pool: vms
  persistent_disk_pool: disks
  networks: [{name: default, static_ips: [127.${octet}.7.9]}]
cloud_provider:
  cpi: {package: local, properties: {local: {dir: cloud}}}
`;

let passed = 0;
const broken = [];
console.log(`seed ${seed}, ${kills} kills each`);
for (const [name, story] of Object.entries(STORIES)) {
  if (values.only !== undefined && values.only !== name) continue;
  const usual = await live(name, story, undefined);
  console.log(`${name}: undisturbed ${(usual / 1000).toFixed(1)} s`);
  for (let n = 1; n <= kills; n++) {
    const after = Math.round(random() * usual);
    try {
      await live(name, story, after);
      passed += 1;
      console.log(`${name}: killed after ${after} ms: completed, nothing stray`);
    } catch (error) {
      broken.push(`${name}: killed after ${after} ms: ${error.message}`);
      console.log(broken.at(-1));
    }
  }
}
console.log(`${passed} passed, ${broken.length} failed`);
process.exit(broken.length === 0 ? 0 : 1);

/** One life in a directory of its own; resolves to how long the undisturbed run took. */
async function live(name, story, killAfter) {
  const dir = mkdtempSync(join(isRoot ? "/var/tmp" : tmpdir(), `slipway-crash-${name}-`));
  chmodSync(dir, 0o711);
  try {
    const prepared = await story.prepare(dir);
    if (killAfter !== undefined) await killed(story.args(prepared), dir, killAfter);
    const begun = performance.now();
    const { child, output, ended } = start(story.args(prepared), dir);
    await until(() => story.complete.test(output()) || child.exitCode !== null, "its completion", output);
    if (!story.complete.test(output())) throw new Error(`it ended with ${child.exitCode}:\n${output()}`);
    const took = performance.now() - begun;
    const cloud = story.cloud(dir);
    const made = { vms: entries(join(cloud, "vms")), disks: entries(join(cloud, "disks")) };
    if (made.vms.length !== story.sandboxes || made.disks.length !== 1)
      throw new Error(
        `${story.sandboxes} sandboxes and one disk were expected, found ${JSON.stringify(made)}:\n${output()}`,
      );
    story.close(child);
    await until(() => child.exitCode !== null || child.signalCode !== null, "its end", output);
    await ended;
    if (child.exitCode !== 0) throw new Error(`it ended with ${child.exitCode}:\n${output()}`);
    if (story.takeDown !== undefined) {
      if (killAfter !== undefined) await killed(story.takeDown, dir, Math.round(random() * 1500));
      const down = run(story.takeDown, dir);
      if (down.status !== 0) throw new Error(`${story.takeDown[0]}: ${down.stdout}${down.stderr}`);
      const left = [...entries(join(cloud, "vms")), ...entries(join(cloud, "disks"))];
      if (left.length > 0) throw new Error(`${story.takeDown[0]} left ${left.join(", ")}`);
    }
    mustBeClean(dir);
    return took;
  } finally {
    for (const pid of processesOf(dir)) kill(pid);
    rmSync(dir, { recursive: true, force: true });
  }
}

async function killed(args, dir, afterMs) {
  const { child, ended } = start(args, dir);
  await Promise.race([sleep(afterMs), ended]);
  child.kill("SIGKILL");
  await ended;
}

function start(args, dir) {
  const child = spawn(process.execPath, [slipway, ...args], options(dir));
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
  // Not "close": sandboxes that outlive it may hold its streams.
  const ended = new Promise((done) => child.once("exit", done));
  return { child, ended, output: () => text };
}

function run(args, dir) {
  return spawnSync(process.execPath, [slipway, ...args], {
    ...options(dir),
    encoding: "utf8",
    timeout: LONGEST_MS,
  });
}

function options(dir) {
  mkdirSync(join(dir, "home"), { recursive: true });
  const env = {
    PATH: process.env.PATH,
    HOME: join(dir, "home"),
    SLIPWAY_HOME: dir,
    BOSH_NON_INTERACTIVE: "true",
  };
  return { cwd: dir, env, stdio: ["ignore", "pipe", "pipe"] };
}

async function until(holds, what, output) {
  for (let waited = 0; !holds(); waited += 50) {
    if (waited > LONGEST_MS) throw new Error(`${what} did not come:\n${output()}`);
    await sleep(50);
  }
}

function mustBeClean(dir) {
  const processes = processesOf(dir).map((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "),
  );
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(dir));
  const loops = readdirSync("/sys/block")
    .map((name) => join("/sys/block", name, "loop/backing_file"))
    .filter((file) => existsSync(file) && readFileSync(file, "utf8").includes(dir));
  const left = [...processes, ...mounts, ...loops];
  if (left.length > 0) throw new Error(`left behind:\n${left.join("\n")}`);
}

function processesOf(dir) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(dir);
      } catch {
        return false;
      }
    })
    .map(Number);
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function entries(path) {
  return existsSync(path) ? readdirSync(path) : [];
}

/** Small, and the same for the same seed. */
function seeded(text) {
  let state = [...text].reduce(
    (sum, char) => Math.imul(sum ^ char.codePointAt(0), 0x01000193) >>> 0,
    0x811c9dc5,
  );
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
