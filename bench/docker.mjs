// npm run bench:docker: the Docker CPI beside what the engine and the machine need for the same.
// Needs root (for bare loop devices), a Docker Engine and its command `docker`. --image names a root file system, where it
// is not to be one of this machine's own programs.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cpiDocker } from "@slipway/cpi-docker/cpi-docker";
import { embed } from "@slipway/cpi-sdk/embed";
import { quick, report } from "./judge.mjs";
import { median } from "./measure.mjs";

const { host, cpi, rounds, ...given } = parseArgs({
  options: {
    image: { type: "string" },
    host: {
      type: "string",
      default: process.env.SLIPWAY_DOCKER_HOST ?? process.env.DOCKER_HOST ?? "unix:///var/run/docker.sock",
    },
    cpi: { type: "string", default: "packages/cpi-docker/dist/cpi.cjs" },
    rounds: { type: "string", default: quick ? "1" : "5" },
    quick: { type: "boolean" },
    json: { type: "boolean" },
  },
}).values;
const ROUNDS = Number(rounds);
const DISK_TURNS = quick ? 1 : 5;

const dir = mkdtempSync(join(tmpdir(), "slipway-bench-docker-"));
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
const now = () => Number(process.hrtime.bigint()) / 1e6;
const ms = (n) => `${n.toFixed(0)} ms`;
const mib = (n) => `${n.toFixed(1)} MiB`;

function run(program, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", ...options });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}
const image = given.image ?? hostImage();
function hostImage() {
  const stemcell = join(dir, "stemcell.tgz");
  const flags = ["--for", "docker", "--from-host", "--out", stemcell];
  run(process.execPath, ["packages/cli/dist/slipway.cjs", "stemcell", "build", ...flags]);
  run("tar", ["-xzf", stemcell, "-C", dir, "image"]);
  return join(dir, "image");
}
const docker = (...args) => run("docker", ["-H", host, ...args]);

const openssl = [
  "req",
  "-x509",
  "-newkey",
  "ec",
  "-pkeyopt",
  "ec_paramgen_curve:P-256",
  "-nodes",
  "-days",
  "1",
];
run("openssl", [...openssl, "-subj", "/CN=bench", "-keyout", join(dir, "key"), "-out", join(dir, "cert")]);
const [key, certificate] = ["key", "cert"].map((name) => readFileSync(join(dir, name), "utf8"));

const volume = `slipway-bench-${process.pid}`;
const config = join(dir, "cpi.json");
const agent = { mbus: "https://mbus:bench@0.0.0.0:6868" };
const properties = { docker: { dir, host, volume }, agent };
writeFileSync(config, JSON.stringify(properties));
const context = { director_uuid: "bench", vm: { stemcell: { api_version: 3 } } };
function ask(method, ...args) {
  const input = JSON.stringify({ method, arguments: args, context, api_version: 2 });
  const reply = JSON.parse(run(process.execPath, [cpi, "--configFile", config], { input }));
  if (reply.error) throw new Error(`${method}: ${reply.error.message}`);
  return reply.result;
}

/** As `slipway up --cpi docker` calls it: in its own process. */
const embedded = embed(cpiDocker, { config: properties });
async function askEmbedded(method, ...args) {
  const reply = await embedded.request({ method, arguments: args, context, api_version: 2 });
  if (reply.error) throw new Error(`${method}: ${reply.error.message}`);
  return reply.result;
}

const RANGE = "10.212.0";
const untilTrue = async (test) => {
  while (!(await test())) await new Promise((resolve) => setTimeout(resolve, 5));
};
/** As a Director's, they stay open between messages. */
const connections = new Agent({ keepAlive: true });
const message = (ip, method, ...args) =>
  new Promise((resolve) => {
    const options = {
      host: ip,
      port: 6868,
      path: "/agent",
      method: "POST",
      auth: "mbus:bench",
      rejectUnauthorized: false,
    };
    const asked = request({ ...options, agent: connections }, (reply) => {
      let text = "";
      reply.on("data", (piece) => (text += piece)).on("end", () => resolve(JSON.parse(text)));
    });
    asked.on("error", () => resolve({}));
    asked.end(
      JSON.stringify({ protocol: 3, method, arguments: args, reply_to: "bench", takes_result: true }),
    );
  });
async function value(ip, method, ...args) {
  let reply = await message(ip, method, ...args);
  while (reply.value?.state === "running") reply = await message(ip, "get_task", reply.value.agent_task_id);
  if (reply.exception) throw new Error(`${method}: ${reply.exception.message}`);
}
const listens = (ip) =>
  new Promise((resolve) => {
    const socket = createConnection({ host: ip, port: 6868 }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
const timed = async (work) => {
  const begun = now();
  await work();
  return now() - begun;
};
const memoryOf = (name) => {
  const [used = "0"] = docker("stats", "--no-stream", "--format", "{{.MemUsage}}", name).split(" ");
  return Number.parseFloat(used) * (used.endsWith("GiB") ? 1024 : used.endsWith("KiB") ? 1 / 1024 : 1);
};

let last = 9;
const figures = {
  import: [],
  bareImport: [],
  vm: [],
  bareVm: [],
  disk: [],
  embeddedDisk: [],
  bareDisk: [],
  memory: [],
  bareMemory: [],
};
const loopFile = join(dir, "bare.img");
const LISTEN = "require('net').createServer().listen(6868)";
mkdirSync(join(dir, "m"));
docker("network", "create", "--subnet", `${RANGE}.0/24`, volume);
try {
  let stemcell = "";
  for (let round = 0; round < (quick ? 1 : 2); round++) {
    if (stemcell !== "") ask("delete_stemcell", stemcell);
    figures.import.push(await timed(() => (stemcell = ask("create_stemcell", image, {}))));
    spawnSync("docker", ["-H", host, "rmi", `${volume}:bare`]);
    figures.bareImport.push(await timed(() => docker("import", image, `${volume}:bare`)));
  }
  const warm = ask("create_disk", 8, {}, null);
  ask("delete_disk", warm);
  for (let round = 0; round < ROUNDS; round++) {
    const [ip, bareIp] = [`${RANGE}.${++last}`, `${RANGE}.${++last}`];
    const bare = `bench-${process.pid}-${round}`;
    figures.bareVm.push(
      await timed(async () => {
        const net = ["--network", volume, "--ip", bareIp];
        docker("run", "-d", "--init", "--name", bare, ...net, `${volume}:bare`, "node", "-e", LISTEN);
        await untilTrue(() => listens(bareIp));
      }),
    );
    let vm = "";
    figures.vm.push(
      await timed(async () => {
        const networks = {
          a: { type: "manual", ip, netmask: "255.255.255.0", cloud_properties: { name: volume } },
        };
        const env = { bosh: { mbus: { cert: { ca: certificate, certificate, private_key: key } } } };
        [vm] = ask("create_vm", `bench-${round}`, stemcell, {}, networks, [], env);
        await untilTrue(async () => (await message(ip, "ping")).value === "pong");
      }),
    );
    figures.memory.push(memoryOf(vm));
    figures.bareMemory.push(memoryOf(bare));
    const disk = ask("create_disk", 256, {}, vm);
    const mounted = async (call) => {
      const hint = await call("attach_disk", vm, disk);
      await value(ip, "add_persistent_disk", disk, hint);
      await value(ip, "mount_disk", disk);
      await value(ip, "unmount_disk", disk);
      await value(ip, "remove_persistent_disk", disk);
      await call("detach_disk", vm, disk);
    };
    // The first time it is formatted.
    await mounted(askEmbedded);
    run("truncate", ["-s", "256M", loopFile]);
    run("mkfs.ext4", ["-q", "-F", loopFile]);
    // By turns, so that a slow moment of the machine hits all of them.
    for (let turn = 0; turn < DISK_TURNS; turn++) {
      figures.disk.push(await timed(() => mounted(ask)));
      figures.embeddedDisk.push(await timed(() => mounted(askEmbedded)));
      figures.bareDisk.push(
        await timed(() => {
          const loop = run("losetup", ["--find", "--show", loopFile]);
          run("mount", [loop, join(dir, "m")]);
          run("umount", [join(dir, "m")]);
          run("losetup", ["--detach", loop]);
        }),
      );
    }
    ask("delete_vm", vm);
    ask("delete_disk", disk);
    docker("rm", "-fv", bare);
  }
  ask("delete_stemcell", stemcell);
} finally {
  const keeper = spawnSync("docker", ["-H", host, "inspect", "-f", "{{.Image}}", `slipway-keeper-${volume}`]);
  const kept = keeper.stdout.toString().trim().replace("sha256:", "").slice(0, 12);
  spawnSync("docker", ["-H", host, "rm", "-fv", `slipway-keeper-${volume}`]);
  if (kept !== "") spawnSync("docker", ["-H", host, "rmi", `slipway-keeper:${kept}`]);
  for (const args of [
    ["volume", "rm", volume],
    ["network", "rm", volume],
    ["rmi", "-f", `${volume}:bare`],
  ])
    spawnSync("docker", ["-H", host, ...args]);
}

const row = (what, ours, bare, show) => ({
  what,
  ours: show(median(ours)),
  baseline: show(median(bare)),
  ratio: median(ours) / median(bare),
});
const ok = report(
  "Docker CPI (medians; calls of the CPI are processes of their own where nothing else is said)",
  [
    row("create_stemcell / docker import", figures.import, figures.bareImport, ms),
    row("create_vm to agent ready / docker run to Node listening", figures.vm, figures.bareVm, ms),
    row("attach, mount, unmount, detach / losetup, mount, umount", figures.disk, figures.bareDisk, ms),
    row("  the same with the CPI in the process (slipway up)", figures.embeddedDisk, figures.bareDisk, ms),
    row("memory of a VM / of a container with idle Node", figures.memory, figures.bareMemory, mib),
  ],
);
process.exitCode = ok ? 0 : 1;
