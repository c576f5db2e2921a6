// Part of npm run bench:agent: fifty supervised processes, beside real monit with the control file of a stemcell.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../tools/free-port.mjs";
import { startAgent } from "../tools/start-agent.mjs";
import { quick } from "./judge.mjs";
import { median, scratchDir } from "./measure.mjs";

const COUNT = 50;
const DEATHS = quick ? 1 : 7;
/** As in upstream's stemcells. */
const MONIT_CYCLE_SECONDS = 10;
const WATCHED_SECONDS = quick ? 2 : 30;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what, holds, withinMs = 120_000) {
  const end = Date.now() + withinMs;
  for (;;) {
    const found = await holds();
    if (found) return found;
    if (Date.now() > end) throw new Error(`${what} did not come about`);
    await sleep(2);
  }
}

/** Fifty processes in a directory: their monit file, and what is known of them. */
function processes(dir) {
  mkdirSync(dir, { recursive: true });
  const names = Array.from({ length: COUNT }, (_, at) => `p${at}`);
  const pidfile = (name) => join(dir, `${name}.pid`);
  const pid = (name) => (existsSync(pidfile(name)) ? Number(readFileSync(pidfile(name), "utf8")) : 0);
  const lives = (one) =>
    existsSync(`/proc/${one}/stat`) && !/\) Z /.test(readFileSync(`/proc/${one}/stat`, "utf8"));
  const monit = names
    .map(
      (name) => `check process ${name} with pidfile ${pidfile(name)}
  start program "/bin/sh -c 'sleep 100000 & echo $! > ${pidfile(name)}'"
  stop program "/bin/sh -c 'kill $(cat ${pidfile(name)})'"
  group vcap
`,
    )
    .join("");
  return {
    monit,
    allRun: () => names.every((name) => pid(name) > 0 && lives(pid(name))),
    /** Kills one process after the other, each for the first time; the median until another runs in its place. */
    deaths: async () => {
      const times = [];
      for (const name of names.slice(0, DEATHS)) {
        const before = pid(name);
        // Not always at the same moment of a cycle.
        await sleep(Math.random() * 1000);
        const begun = process.hrtime.bigint();
        process.kill(before, "SIGKILL");
        await until(`a new ${name}`, () => pid(name) > 0 && pid(name) !== before && lives(pid(name)));
        times.push(Number(process.hrtime.bigint() - begun) / 1e6);
      }
      return median(times);
    },
    end: () => {
      for (const name of names) if (pid(name) > 0 && lives(pid(name))) process.kill(pid(name), "SIGKILL");
    },
  };
}

const residentMib = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

/** Milliseconds of processor time in a second of watching, of all threads. */
async function processor(pid) {
  const spent = () =>
    readdirSync(`/proc/${pid}/task`).reduce(
      (sum, task) =>
        sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6,
      0,
    );
  const before = spent();
  await sleep(WATCHED_SECONDS * 1000);
  // Never nothing: in the quick form monit may sleep all the time.
  return Math.max(spent() - before, 0.001) / WATCHED_SECONDS;
}

async function ours(post) {
  const dir = scratchDir("supervised");
  const jobs = processes(join(dir, "run"));
  const running = await startAgent(dir);
  const call = async (method, ...args) => {
    let reply = await post(running, { protocol: 3, method, arguments: args, reply_to: "bench" });
    while (reply.value?.agent_task_id !== undefined)
      reply = await post(running, {
        protocol: 3,
        method: "get_task",
        arguments: [reply.value.agent_task_id],
        reply_to: "bench",
      });
    if (reply.exception !== undefined) throw new Error(`${method}: ${reply.exception.message}`);
    return reply.value;
  };
  try {
    mkdirSync(join(dir, "templates", "many"), { recursive: true });
    writeFileSync(join(dir, "templates", "many", "monit"), jobs.monit);
    const archive = execFileSync("tar", ["-C", join(dir, "templates"), "-cz", "many"]);
    const sha1 = createHash("sha1").update(archive).digest("hex");
    await call("upload_blob", { blob_id: "templates", checksum: sha1, payload: archive.toString("base64") });
    await call("apply", {
      ...{ deployment: "bench", name: "many", index: 0, id: "0", az: "z1", packages: {} },
      networks: { private: { ip: "127.0.0.1" } },
      configuration_hash: sha1,
      rendered_templates_archive: { blobstore_id: "templates", sha1 },
      job: { name: "many", templates: [{ name: "many", version: "1" }] },
    });
    await call("start");
    await until("all processes of the agent", jobs.allRun);
    const memory = await settledMemory(running.pid);
    const cpu = await processor(running.pid);
    return { memory, cpu, death: await jobs.deaths() };
  } finally {
    await running.stop();
    jobs.end();
  }
}

/** After what the start needed is given back, as far as it is. */
async function settledMemory(pid) {
  await sleep(quick ? 500 : 5000);
  return residentMib(pid);
}

async function monits(program) {
  const dir = scratchDir("monit");
  const jobs = processes(join(dir, "run"));
  const control = join(dir, "monitrc");
  writeFileSync(join(dir, "user"), "vcap:only-for-tests\n", { mode: 0o600 });
  writeFileSync(join(dir, "job.monitrc"), jobs.monit, { mode: 0o600 });
  writeFileSync(
    control,
    `set daemon ${MONIT_CYCLE_SECONDS}
${["log", "pid", "id", "state"].map((kind) => `set ${kind}file ${join(dir, kind)}`).join("\n")}
set httpd port ${await freePort()} and use address 127.0.0.1
  allow cleartext ${join(dir, "user")}
include ${join(dir, "job.monitrc")}
`,
  );
  chmodSync(control, 0o600);
  try {
    execFileSync(program, ["-c", control], { stdio: "ignore" });
    await until("all processes of monit", jobs.allRun);
    const pid = Number(readFileSync(join(dir, "pid"), "utf8"));
    const memory = await settledMemory(pid);
    const cpu = await processor(pid);
    return { memory, cpu, death: await jobs.deaths() };
  } finally {
    spawnSync(program, ["-c", control, "quit"], { stdio: "ignore" });
    jobs.end();
  }
}

/** Rows of the table; `post` sends one message to an agent and reads the answer. */
export async function supervisedRows(post) {
  const mine = await ours(post);
  const program = ["/usr/bin/monit", "/usr/sbin/monit"].find((path) => existsSync(path));
  const theirs = program === undefined ? undefined : await monits(program);
  const row = (what, key, shown) => ({
    what,
    ours: shown(mine[key]),
    baseline: theirs === undefined ? "monit: not installed" : `${shown(theirs[key])} monit`,
    ratio: theirs === undefined ? 1 : mine[key] / theirs[key],
  });
  return [
    row("death of a process to its restart", "death", (n) => `${n.toFixed(0)} ms`),
    row(`resident memory, ${COUNT} processes watched`, "memory", (n) => `${n.toFixed(1)} MiB`),
    row(`processor per second, ${COUNT} watched`, "cpu", (n) => `${n.toFixed(2)} ms`),
  ];
}
