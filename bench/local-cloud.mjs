// A cloud on this machine for the benchmarks: `slipway up` in a home of its own, and its API.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../tools/free-port.mjs";
import { removedAtEnd, startNode } from "./measure.mjs";

const SLIPWAY = "packages/cli/dist/slipway.cjs";
const LONGEST_MS = 120_000;
export const isRoot = process.getuid() === 0;

/** As root the database server runs as somebody else, who must get through. */
export function makeHome() {
  const dir = mkdtempSync(join(isRoot ? "/var/tmp" : tmpdir(), "slipway-bench-"));
  chmodSync(dir, 0o711);
  return {
    dir: join(dir, "home"),
    scratch: dir,
    remove: removedAtEnd(dir),
  };
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function send({ port, ca, auth }, { method = "GET", path, body, type }) {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(type !== undefined && { "content-type": type }),
      ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
    };
    const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
    const call = request({ host: "127.0.0.1", port, method, path, auth, headers, ...trust }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode, location: response.headers.location, text }),
      );
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** Starts it and measures until /info is answered. */
export async function up(home) {
  const port = await freePort();
  const env = { ...process.env, SLIPWAY_HOME: home.dir, NO_COLOR: "1" };
  const begun = process.hrtime.bigint();
  const since = () => Number(process.hrtime.bigint() - begun) / 1e6;
  const child = startNode([SLIPWAY, "up", "--port", String(port)], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
  const ended = once(child, "exit");
  // Its certificate is made during the very start that is measured.
  const answers = () =>
    send({ port }, { path: "/info" }).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await answers())) {
    if (child.exitCode !== null || since() > LONGEST_MS)
      throw new Error(`slipway up does not start: ${said}`);
    await pause(2);
  }
  const ms = since();
  const stop = async () => {
    child.kill("SIGINT");
    await ended;
  };
  return { ms, stop, port, cloud: join(home.dir, "cloud"), home };
}

/** The API with the credentials of the environment file, which is there a moment after /info is. */
export async function apiOf({ port, home }) {
  const text = () => readFileSync(join(home.dir, "env"), "utf8");
  for (const end = Date.now() + LONGEST_MS; ; ) {
    try {
      text();
      break;
    } catch (error) {
      if (Date.now() > end) throw error;
      await pause(10);
    }
  }
  const value = (name) => new RegExp(`^export ${name}='(.*)'$`, "m").exec(text())?.[1] ?? "";
  const reach = {
    port,
    ca: readFileSync(value("BOSH_CA_CERT"), "utf8"),
    auth: `${value("BOSH_CLIENT")}:${value("BOSH_CLIENT_SECRET")}`,
  };
  const ask = async (sent) => {
    const answer = await send(reach, sent);
    if (answer.status >= 400) throw new Error(`${sent.path}: HTTP ${answer.status}: ${answer.text}`);
    return answer;
  };
  /** Waits for the end of a task; what was said in it. */
  const task = async (sent) => {
    const id = /\/tasks\/(\d+)$/.exec((await ask(sent)).location)?.[1];
    for (;;) {
      const { state, result } = JSON.parse((await ask({ path: `/tasks/${id}` })).text);
      if (state === "done") break;
      if (!["queued", "processing"].includes(state)) throw new Error(`${sent.path}: ${state}: ${result}`);
      await pause(20);
    }
    const { text: lines } = await ask({ path: `/tasks/${id}/output?type=conversation` });
    return lines
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  };
  return { ask, task };
}

/** A stemcell, and a cloud config with addresses that are this port's alone. */
export async function furnish(api, { home, port }) {
  const file = join(home.scratch, "stemcell.tgz");
  const made = spawnSync(process.execPath, [SLIPWAY, "stemcell", "build", "--out", file], {
    encoding: "utf8",
    env: { ...process.env, SLIPWAY_HOME: home.dir },
  });
  if (made.status !== 0) throw new Error(`slipway stemcell build: ${made.stderr}`);
  await api.task({
    method: "POST",
    path: "/stemcells",
    type: "application/x-compressed",
    body: readFileSync(file),
  });
  const net = `127.${port >> 8}.${port & 0xff}`;
  const config = {
    azs: [{ name: "z1" }],
    vm_types: [{ name: "default" }],
    disk_types: [{ name: "small", disk_size: 64 }],
    networks: [
      {
        name: "private",
        type: "manual",
        subnets: [{ range: `${net}.0/24`, gateway: `${net}.1`, azs: ["z1"] }],
      },
    ],
    compilation: { workers: 1, network: "private", az: "z1", vm_type: "default" },
  };
  await api.ask({ method: "POST", path: "/cloud_configs", type: "text/yaml", body: JSON.stringify(config) });
}

export const deployment = (name, instances, disk) => ({
  method: "POST",
  path: "/deployments",
  type: "text/yaml",
  body: JSON.stringify({
    name,
    releases: [],
    stemcells: [{ alias: "default", os: "local", version: "latest" }],
    update: {
      canaries: 0,
      max_in_flight: instances,
      canary_watch_time: "1-60000",
      update_watch_time: "1-60000",
    },
    instance_groups: [
      {
        name: "vm",
        instances,
        azs: ["z1"],
        vm_type: "default",
        stemcell: "default",
        networks: [{ name: "private" }],
        jobs: [],
        ...(disk && { persistent_disk_type: "small" }),
      },
    ],
  }),
});
