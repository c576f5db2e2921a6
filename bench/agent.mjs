// npm run bench:agent: start, memory, pings, mounts and supervised jobs, each beside a baseline of the same run.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { certificates, startAgent } from "../tools/start-agent.mjs";
import { jobFigures } from "./agent-jobs.mjs";
import { quick, report } from "./judge.mjs";
import {
  cpuTime,
  cpuTimeOf,
  inTurns,
  median,
  ownChild,
  peakMemory,
  scratchDir,
  startNode,
  wallTime,
} from "./measure.mjs";
import { natsPings } from "./nats-pings.mjs";
import { supervisedRows } from "./supervised.mjs";

const PING = JSON.stringify({ method: "ping", arguments: [], reply_to: "bench" });

function post(agent, port, ca, body, auth) {
  return new Promise((resolve, reject) => {
    const headers = { "Content-Length": Buffer.byteLength(body), Authorization: auth };
    const call = request(
      { agent, host: "127.0.0.1", port, method: "POST", path: "/agent", ca, headers },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () =>
          response.statusCode === 200
            ? resolve(text)
            : reject(new Error(`HTTP ${response.statusCode}: ${text}`)),
        );
      },
    );
    call.on("error", reject);
    call.end(body);
  });
}

const basic = (running) => `Basic ${Buffer.from(`agent:${running.password}`).toString("base64")}`;

/** Answers per second over eight kept connections. */
async function answersPerSecond(port, ca, auth, count = quick ? 100 : 3000) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  let next = 0;
  const client = async () => {
    while (next++ < count) await post(agent, port, ca, PING, auth);
  };
  await Promise.all(Array.from({ length: 8 }, client));
  next = 0;
  const start = process.hrtime.bigint();
  await Promise.all(Array.from({ length: 8 }, client));
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  agent.destroy();
  return count / seconds;
}

const BARE = `
const https = require("https"), fs = require("fs");
const { cert, key } = JSON.parse(fs.readFileSync(process.argv[1]));
https.createServer({ cert, key }, (req, res) => { req.resume(); req.on("end", () => res.end('{"value":"pong"}')); })
  .listen(0, "127.0.0.1", function () { console.log("port " + this.address().port); });
`;

async function startBare() {
  const { AGENT_SERVER } = await certificates();
  const file = scratchDir("bare.json");
  writeFileSync(file, JSON.stringify({ cert: AGENT_SERVER.certificate, key: AGENT_SERVER.privateKey }));
  const child = startNode(["-e", BARE, file], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise((resolve) =>
    child.stdout.setEncoding("utf8").on("data", (text) => resolve(Number(text.split(" ")[1]))),
  );
  return { port, stop: () => child.kill("SIGKILL") };
}

/** An agent that a signal to the benchmark ends too. */
async function startOwned(dir) {
  const running = await startAgent(dir);
  ownChild(running.child);
  return running;
}

let starts = 0;
/** Processor time of each start. */
const startCpu = [];

/** From the start of the process on: what is made for it before does not count. */
async function startTime() {
  const dir = scratchDir(`start-${starts++}`);
  mkdirSync(dir);
  const running = await startOwned(dir);
  await post(undefined, running.port, running.ca, PING, basic(running));
  const ms = Number(process.hrtime.bigint()) / 1e6 - running.begun;
  const cpu = cpuTimeOf(running.pid);
  await running.stop();
  startCpu.push(cpu);
  return ms;
}

/** Resident memory of a process that has nothing to do. */
const residentMib = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** The value of a message, its task polled to the end. */
async function valueFrom(running, method, args) {
  const call = async (name, given) => {
    const body = JSON.stringify({ protocol: 3, method: name, arguments: given, reply_to: "b" });
    return JSON.parse(await post(undefined, running.port, running.ca, body, basic(running)));
  };
  let reply = await call(method, args);
  while (reply.value?.agent_task_id !== undefined)
    reply = await call("get_task", [reply.value.agent_task_id]);
  if (reply.exception !== undefined) throw new Error(`${method}: ${reply.exception.message}`);
  return reply.value;
}

/** mount_disk of a disk that is formatted already, beside the mount command; needs root and loop devices. */
async function mounts(rounds) {
  if (process.getuid() !== 0 || spawnSync("losetup", ["--version"]).status !== 0) return undefined;
  const dir = scratchDir("mounts");
  mkdirSync(dir);
  const image = join(dir, "disk.img");
  writeFileSync(image, "");
  truncateSync(image, 64 << 20);
  execFileSync("mkfs.ext4", ["-q", image]);
  const device = execFileSync("losetup", ["--find", "--show", image], { encoding: "utf8" }).trim();
  const running = await startOwned(dir);
  const task = (method, args) => valueFrom(running, method, args);
  try {
    await task("add_persistent_disk", ["disk-bench", { path: device }]);
    const times = { ours: [], bare: [] };
    const target = join(dir, "by-hand");
    mkdirSync(target);
    for (let round = 0; round < rounds; round++) {
      let begun = process.hrtime.bigint();
      await task("mount_disk", ["disk-bench"]);
      times.ours.push(Number(process.hrtime.bigint() - begun) / 1e6);
      await task("unmount_disk", ["disk-bench"]);
      begun = process.hrtime.bigint();
      execFileSync("mount", [device, target]);
      times.bare.push(Number(process.hrtime.bigint() - begun) / 1e6);
      execFileSync("umount", [target]);
    }
    return { ours: median(times.ours), bare: median(times.bare) };
  } finally {
    await running.stop();
    execFileSync("losetup", ["--detach", device]);
  }
}

const { start, node, nodeCpu, bareMemory } = await inTurns(quick ? 3 : 9, {
  node: () => wallTime(["-e", "0"]),
  start: startTime,
  nodeCpu: () => cpuTime(["-e", "0"]),
  bareMemory: () => peakMemory(["-e", "0"]),
});
const dir = scratchDir("agent");
mkdirSync(dir);
const running = await startOwned(dir);
const idle = residentMib(running.pid);
const bare = await startBare();
const { CA } = await certificates();
const rates = { ours: [], bare: [] };
for (let round = 0; round < (quick ? 1 : 3); round++) {
  rates.bare.push(await answersPerSecond(bare.port, CA, ""));
  rates.ours.push(await answersPerSecond(running.port, running.ca, basic(running)));
}
bare.stop();
await running.stop();
const overNats = await natsPings(quick ? 1 : 3);
const mounted = await mounts(quick ? 1 : 10);
const jobs = await jobFigures(quick ? 1 : 10, valueFrom);

const ms = (n) => `${n.toFixed(1)} ms`;
const rows = [
  {
    what: "start to first ping",
    ours: ms(start),
    baseline: `${ms(node)} node -e 0`,
    ratio: start / node,
    limit: 3,
    atMost: true,
  },
  {
    what: "  its processor time",
    ours: ms(median(startCpu)),
    baseline: `${ms(nodeCpu)} node -e 0`,
    ratio: median(startCpu) / nodeCpu,
    limit: 2.5,
    atMost: true,
    slack: 2,
  },
  {
    what: "resident memory, idle",
    ours: `${idle.toFixed(1)} MiB`,
    baseline: `${bareMemory.toFixed(1)} MiB node -e 0`,
    ratio: idle / bareMemory,
    limit: 2,
    atMost: true,
    slack: 1.5,
  },
  {
    what: "resident memory, idle",
    ours: `${idle.toFixed(1)} MiB`,
    baseline: "64 MiB goal",
    ratio: idle / 64,
    limit: 1,
    atMost: true,
  },
  {
    what: "pings over HTTPS",
    ours: `${median(rates.ours).toFixed(0)} /s`,
    baseline: `${median(rates.bare).toFixed(0)} /s empty TLS server`,
    ratio: median(rates.ours) / median(rates.bare),
    limit: 0.25,
  },
];
rows.push(
  {
    what: "apply, 20 jobs, warm cache",
    ours: ms(jobs.apply.ours),
    baseline: `${ms(jobs.apply.bare)} tar -xz`,
    ratio: jobs.apply.ours / jobs.apply.bare,
    limit: 60,
    atMost: true,
  },
  {
    what: "compile_package",
    ours: ms(jobs.compile.ours),
    baseline: `${ms(jobs.compile.bare)} bare script`,
    ratio: jobs.compile.ours / jobs.compile.bare,
    limit: 3,
    atMost: true,
  },
);
if (overNats !== undefined) {
  rows.push({
    what: "pings over NATS",
    ours: `${overNats.ours.toFixed(0)} /s`,
    baseline: `${overNats.bare.toFixed(0)} /s bare NATS responder`,
    ratio: overNats.ours / overNats.bare,
    limit: 0.06,
  });
} else console.log("pings over NATS are not measured: nats-server is not installed\n");
if (mounted !== undefined) {
  rows.push({
    what: "mount_disk, formatted disk",
    ours: ms(mounted.ours),
    baseline: `${ms(mounted.bare)} mount`,
    ratio: mounted.ours / mounted.bare,
    limit: 12,
    atMost: true,
  });
} else console.log("mount_disk is not measured: it needs root and loop devices\n");
const ask = async (to, message) =>
  JSON.parse(await post(undefined, to.port, to.ca, JSON.stringify(message), basic(to)));
rows.push(...(await supervisedRows(ask)));
process.exitCode = report(`Agent benchmarks on Node ${process.version}, medians`, rows) ? 0 : 1;
