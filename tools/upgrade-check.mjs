// Part of `npm run test:pack`: a new version takes over what an older one has left: its home, its running VMs, and the
// task it was killed at. The older one is built from this repository's history.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.mjs";
import { cleanEnv } from "./installed.mjs";

/** The newest tag counts as the previous release; before there is one, this commit does. */
const BEFORE_TAGS = "14a488fe395cc0e7372d9fb28504c20b1a562498";
const WITHIN_MS = 120_000;

/** The commit of the previous release, or why there is none to be had. */
export function previousRelease(root) {
  const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" });
  const tag = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^");
  const wanted = process.env.SLIPWAY_PREVIOUS ?? (tag.status === 0 ? tag.stdout.trim() : BEFORE_TAGS);
  const found = git("rev-parse", "--verify", "--quiet", `${wanted}^{commit}`);
  return found.status === 0
    ? { commit: found.stdout.trim() }
    : {
        why: `the commit ${wanted} of the previous release is not in this clone's history (git fetch --unshallow)`,
      };
}

/** Its programs, built with its own tools and libraries. Resolves to the directory. */
export function buildPrevious(root, commit, dir) {
  const home = join(dir, "previous");
  mkdirSync(home);
  const shell = (command, cwd) => {
    const { status, stderr, stdout } = spawnSync("sh", ["-c", command], {
      cwd,
      env: cleanEnv(),
      encoding: "utf8",
      maxBuffer: 1 << 26,
    });
    if (status !== 0) throw new Error(`${command} ended with ${status}:\n${stdout}${stderr}`);
  };
  shell(`git archive ${commit} | tar -x -C '${home}'`, root);
  shell("npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error", home);
  shell(`"${process.execPath}" -e 'import("./tools/bundle.mjs").then(({ bundle }) => bundle())'`, home);
  return join(home, "packages/cli/dist/slipway.cjs");
}

const manifest = (instances) => `name: shop
releases: []
stemcells: [{alias: default, os: local, version: latest}]
update: {canaries: 1, max_in_flight: 1, canary_watch_time: 1000-60000, update_watch_time: 1000-60000}
instance_groups:
- name: db
  azs: [z1]
  instances: ${instances}
  jobs: []
  vm_type: small
  stemcell: default
  persistent_disk_type: small
  networks: [{name: private}]
`;

const cloudConfig = (port) => `azs: [{name: z1}]
vm_types: [{name: small}]
disk_types: [{name: small, disk_size: 64}]
networks:
- name: private
  type: manual
  subnets: [{range: 127.${port >> 8}.${port & 0xff}.0/24, gateway: 127.${port >> 8}.${port & 0xff}.1, azs: [z1]}]
compilation: {workers: 1, network: private, az: z1, vm_type: small}
`;

/** Plays it. `older` and `newer` are the commands of the two versions. Resolves to sentences about what held. */
export async function upgrade(older, newer, dir) {
  chmodSync(dir, 0o711);
  const home = join(dir, "upgraded");
  const port = await freePort();
  const env = { ...cleanEnv(), SLIPWAY_HOME: home, BOSH_NON_INTERACTIVE: "true" };
  const run = ([program, ...before], args, { fails = false } = {}) => {
    const { status, stdout, stderr } = spawnSync(program, [...before, ...args], {
      cwd: dir,
      env,
      encoding: "utf8",
    });
    if ((status === 0) === fails)
      throw new Error(`slipway ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
    return stdout;
  };
  const vms = (slipway) =>
    JSON.parse(run(slipway, ["-d", "shop", "instances", "--details", "--json"]))
      .Tables.at(-1)
      .Rows.map((row) => row.vm_cid);
  const file = (name, text) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const stop = (slipway) => spawnSync(slipway[0], [...slipway.slice(1), "down"], { cwd: dir, env });
  const held = [];
  try {
    run(older, ["up", "--detach", "--port", String(port)]);
    const stemcell = join(dir, "stemcell.tgz");
    run(older, ["stemcell", "build", "--out", stemcell]);
    run(older, ["upload-stemcell", stemcell]);
    run(older, ["update-cloud-config", file("cloud-config.yml", cloudConfig(port))]);
    run(older, ["-d", "shop", "deploy", file("one.yml", manifest(1))]);
    const [first] = vms(older);
    // The newer CLI, at the older Director: the older one had no way to send a file.
    const store = "/deployments/shop/instance_groups/db/0/store?path=note";
    run(newer, [
      "curl",
      "-X",
      "PUT",
      "-H",
      "Content-Type: text/plain",
      "--body",
      file("note", "precious\n"),
      store,
    ]);
    // Killed in the middle of a larger deploy: its VMs and its database run on, its task is not finished.
    const deploy = spawn(
      older[0],
      [...older.slice(1), "-d", "shop", "deploy", file("three.yml", manifest(3))],
      {
        cwd: dir,
        env,
      },
    );
    const said = [];
    for (const stream of [deploy.stdout, deploy.stderr]) stream.on("data", (chunk) => said.push(chunk));
    await until("the older one makes VMs", () => said.join("").includes("creating vm"));
    const { process: director } = JSON.parse(readFileSync(join(home, "running.json"), "utf8"));
    process.kill(director.pid, "SIGKILL");
    deploy.kill();

    run(newer, ["up", "--detach"]);
    const [task] = JSON.parse(run(newer, ["tasks", "--recent", "--all", "--json"]))
      .Tables[0].Rows.filter((row) => row.description.includes("create deployment"))
      .map((row) => row.id);
    run(newer, ["task", task]);
    held.push("the task of the older one is finished by the newer one");
    const all = vms(newer);
    if (all.length !== 3 || !all.includes(first))
      throw new Error(`VMs ${all.join(", ")}; ${first} was there before`);
    held.push("its running VM stays, and its agent answers");
    if (!run(newer, ["-d", "shop", "deploy", join(dir, "three.yml")]).includes("No changes"))
      throw new Error("an unchanged manifest has changes for the newer one");
    if (!vms(newer).includes(first)) throw new Error("a deploy without changes has replaced a VM");
    held.push("an unchanged deploy changes nothing");
    run(newer, ["-d", "shop", "recreate"]);
    if (vms(newer).includes(first)) throw new Error("recreate has replaced nothing");
    const note = run(newer, ["curl", store]);
    if (note !== "precious\n") throw new Error(`the disk holds ${JSON.stringify(note)}`);
    held.push("new VMs have the disks of the older ones, with what was on them");
    run(newer, ["-d", "shop", "delete-deployment"]);
    run(newer, ["down"]);
    return held;
  } finally {
    stop(newer);
  }
}

async function until(what, is) {
  const end = Date.now() + WITHIN_MS;
  while (!is()) {
    if (Date.now() > end) throw new Error(`not within ${WITHIN_MS / 1000} s: ${what}`);
    await sleep(50);
  }
}

/** All of it, where the history is there. Prints what held; a sentence that it was skipped, or throws where it must run. */
export async function checkUpgrade(root, newer) {
  const { commit, why } = previousRelease(root);
  if (commit === undefined) {
    if ((process.env.SLIPWAY_REQUIRE ?? "").split(",").includes("git-history")) throw new Error(why);
    return [`skipped, upgrading: ${why}`];
  }
  const dir = mkdtempSync(join(tmpdir(), "slipway-upgrade-"));
  try {
    const older = [process.execPath, buildPrevious(root, commit, dir)];
    if (!existsSync(older[1])) throw new Error(`${older[1]} was not built`);
    return (await upgrade(older, newer, dir)).map((line) => `upgrade from ${commit.slice(0, 7)}: ${line}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
