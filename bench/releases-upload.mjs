// A large release uploaded to a Director, beside copying the same file and computing its digest.
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { inScratch, residentMib, startDirector } from "./director-start.mjs";
import { inTurns } from "./measure.mjs";

const MIB = 2 ** 20;
const PACKAGES = 5;
const POLL_MS = 20;

function run(program, args) {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`);
}

async function sha256(file) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** Packages that do not compress, as those of real releases, in an archive that is compressed all the same. */
async function makeRelease(dir, mib) {
  const home = join(dir, "release");
  for (const folder of ["packages", "jobs", "src"]) mkdirSync(join(home, folder), { recursive: true });
  const packages = [];
  for (let at = 0; at < PACKAGES; at++) {
    const out = createWriteStream(join(home, "src", "blob"));
    for (let piece = 0; piece < mib / PACKAGES; piece++)
      await new Promise((resolve, reject) =>
        out.write(randomBytes(MIB), (error) => (error ? reject(error) : resolve())),
      );
    await new Promise((resolve) => out.end(resolve));
    writeFileSync(join(home, "src", "packaging"), "true\n");
    const file = join(home, "packages", `p${at}.tgz`);
    run("tar", ["-C", join(home, "src"), "-I", "gzip -1", "-cf", file, "packaging", "blob"]);
    const hex = await sha256(file);
    packages.push({
      name: `p${at}`,
      version: hex,
      fingerprint: hex,
      sha1: `sha256:${hex}`,
      dependencies: [],
    });
  }
  const manifest = { name: "large", version: "1", commit_hash: "none", uncommitted_changes: false };
  writeFileSync(join(home, "release.MF"), JSON.stringify({ ...manifest, jobs: [], packages }));
  const file = join(dir, "release.tgz");
  run("tar", ["-C", home, "-I", "gzip -1", "-cf", file, "release.MF", "packages"]);
  return file;
}

/** One call of the API; a stream is sent as it comes. */
function call({ port, password }, method, path, { body, headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const auth = `admin:${password}`;
    const options = { host: "127.0.0.1", port, method, path, auth, headers, rejectUnauthorized: false };
    const sent = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode, text, headers: response.headers }));
    });
    sent.on("error", reject);
    if (body === undefined) sent.end();
    else body.pipe(sent);
  });
}

async function upload(director, file) {
  const { size } = statSync(file);
  const answer = await call(director, "POST", "/releases", {
    body: createReadStream(file, { highWaterMark: MIB }),
    headers: { "content-type": "application/x-compressed", "content-length": size },
  });
  const task = new URL(answer.headers.location ?? "none", "https://director").pathname;
  for (;;) {
    const { text } = await call(director, "GET", task);
    const { state, result } = JSON.parse(text);
    if (state === "done") return;
    if (!["queued", "processing"].includes(state)) throw new Error(`the upload ended as ${state}: ${result}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const timed = async (work) => {
  const begun = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - begun) / 1e6;
};

/** One upload to a new Director: the time, and its memory before and at its peak. */
async function uploadOnce(state, file) {
  const { pid, port, stop } = await startDirector(state);
  try {
    const password = readFileSync(join(state, "admin-password"), "utf8").trim();
    // What its start took is not counted: from here on the kernel keeps a new peak.
    const idle = residentMib(pid);
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    const ms = await timed(() => upload({ port, password }, file));
    return { ms, idle, peak: residentMib(pid, "VmHWM") };
  } finally {
    await stop();
  }
}

/** By turns with copying the same file; of the memory the most counts. */
export const uploadTimes = (mib, rounds) =>
  inScratch(async (dir) => {
    const file = await makeRelease(dir, mib);
    const uploads = [];
    let at = 0;
    const { ms, copy } = await inTurns(rounds, {
      copy: () =>
        timed(() => {
          run("cp", [file, join(dir, "copy.tgz")]);
          run("sha256sum", [join(dir, "copy.tgz")]);
        }),
      ms: async () => {
        const state = join(dir, `state-${at++}`);
        uploads.push(await uploadOnce(state, file));
        rmSync(state, { recursive: true, force: true });
        return uploads.at(-1).ms;
      },
    });
    const most = uploads.reduce((a, b) => (b.peak - b.idle > a.peak - a.idle ? b : a));
    return { ...most, ms, copy, size: statSync(file).size / MIB };
  });
