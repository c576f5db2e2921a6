// Jobs of the agent: apply of 20 of them from a warm cache, beside a bare tar; a compilation, beside its bare script.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startAgent } from "../tools/start-agent.mjs";
import { median, scratchDir } from "./measure.mjs";

const JOBS = 20;
const FILES = 12;
const PACKAGING = `set -e
mkdir -p "$BOSH_INSTALL_TARGET/lib"
for i in $(seq 1 200); do head -c 20000 /dev/urandom > "$BOSH_INSTALL_TARGET/lib/f$i"; done
`;

const sha1 = (path) => createHash("sha1").update(readFileSync(path)).digest("hex");
const milliseconds = (begun) => Number(process.hrtime.bigint() - begun) / 1e6;

/** `call(running, method, args)` resolves to the value of the message, its task polled to the end. */
export async function jobFigures(rounds, call) {
  const dir = scratchDir("jobs");
  mkdirSync(dir);
  const running = await startAgent(dir);
  const blobs = join(dir, "vcap", "blobs");
  mkdirSync(blobs, { recursive: true });
  const say = (method, ...args) => call(running, method, args);
  try {
    return {
      apply: await applies(rounds, dir, blobs, say),
      compile: await compilations(rounds, dir, blobs, say),
    };
  } finally {
    await running.stop();
  }
}

async function applies(rounds, dir, blobs, say) {
  const rendered = join(dir, "rendered");
  const names = Array.from({ length: JOBS }, (_, at) => `job-${at}`);
  for (const name of names) {
    for (const part of ["bin", "config"]) mkdirSync(join(rendered, name, part), { recursive: true });
    writeFileSync(join(rendered, name, "monit"), "");
    for (let at = 0; at < FILES; at++)
      writeFileSync(
        join(rendered, name, at % 3 === 0 ? "bin" : "config", `f${at}`),
        `${name} ${at}\n`.repeat(200),
      );
  }
  const archive = join(blobs, "templates");
  execFileSync("tar", ["-czf", archive, "-C", rendered, "."]);
  const times = { ours: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    let begun = process.hrtime.bigint();
    await say("apply", {
      deployment: "bench",
      configuration_hash: `hash-${round}`,
      networks: {},
      job: { name: "bench", templates: names.map((name) => ({ name, version: `v${round}` })) },
      rendered_templates_archive: { blobstore_id: "templates", sha1: sha1(archive) },
    });
    times.ours.push(milliseconds(begun));
    const target = join(dir, `by-hand-${round}`);
    mkdirSync(target);
    begun = process.hrtime.bigint();
    execFileSync("tar", ["-xzf", archive, "-C", target]);
    times.bare.push(milliseconds(begun));
  }
  return { ours: median(times.ours), bare: median(times.bare) };
}

async function compilations(rounds, dir, blobs, say) {
  const source = join(dir, "source");
  mkdirSync(source);
  writeFileSync(join(source, "packaging"), PACKAGING);
  const archive = join(blobs, "source");
  execFileSync("tar", ["-czf", archive, "-C", source, "."]);
  const times = { ours: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    let begun = process.hrtime.bigint();
    await say("compile_package", "source", sha1(archive), "bench", `${round}`, {});
    times.ours.push(milliseconds(begun));
    const target = join(dir, `bare-${round}`);
    mkdirSync(target);
    copyFileSync(join(source, "packaging"), join(target, "packaging"));
    begun = process.hrtime.bigint();
    const { status } = spawnSync("bash", ["-x", "packaging"], {
      cwd: target,
      env: { PATH: process.env.PATH, BOSH_INSTALL_TARGET: join(target, "installed") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (status !== 0) throw new Error(`the bare script ended with ${status}`);
    times.bare.push(milliseconds(begun));
    rmSync(target, { recursive: true });
  }
  return { ours: median(times.ours), bare: median(times.bare) };
}
