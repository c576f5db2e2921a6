// Makes BOSH releases of our CPIs, so that `bosh create-env` and other Directors can use them. The same sources give
// the same bytes.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { fingerprint } from "../packages/engine/dist/releases/source/fingerprint.js";
import { tarBytes } from "../packages/kernel/dist/tar/write.js";

const CPIS = {
  local: {
    "cpi.cjs": "packages/cpi-local/dist/cpi.cjs",
    "slipway-agent.cjs": "packages/agent/dist/slipway-agent.cjs",
  },
  docker: { "cpi.cjs": "packages/cpi-docker/dist/cpi.cjs" },
  aws: { "cpi.cjs": "packages/cpi-aws/dist/cpi.cjs" },
};
const PACKAGING = 'set -eu\ncp -- * "$BOSH_INSTALL_TARGET"\n';

const { values } = parseArgs({
  options: { out: { type: "string", default: "." }, version: { type: "string" } },
});
const version = values.version ?? JSON.parse(await readFile("package.json", "utf8")).version;

for (const cpi of Object.keys(CPIS)) {
  const release = await makeRelease(cpi);
  const file = resolve(values.out, `slipway-${cpi}-cpi-${version}.tgz`);
  await mkdir(values.out, { recursive: true });
  await writeFile(file, release);
  console.log(`${file}\n  sha256:${sha256(release)}`);
}

async function makeRelease(cpi) {
  const name = `slipway_${cpi}_cpi`;
  const code = {};
  for (const [file, from] of Object.entries(CPIS[cpi])) code[file] = await readFile(from, "utf8");
  const source = { ...code, packaging: PACKAGING };
  const job = await jobFiles(`packages/cpi-${cpi}/release`);
  const made = {
    job: await archive(job),
    package: await archive(source),
    jobPrint: await printOf(job, { plain: [] }),
    packagePrint: await printOf(source, { plain: ["packaging"] }),
  };
  const entry = (print, tgz) => ({ version: print, fingerprint: print, sha1: `sha256:${sha256(tgz)}` });
  const manifest = {
    name: `slipway-${cpi}-cpi`,
    version,
    commit_hash: "non-git",
    uncommitted_changes: false,
    jobs: [{ name, ...entry(made.jobPrint, made.job), packages: [name] }],
    packages: [{ name, ...entry(made.packagePrint, made.package), dependencies: [] }],
  };
  return await archive({
    "release.MF": JSON.stringify(manifest, null, 2),
    [`jobs/${name}.tgz`]: made.job,
    [`packages/${name}.tgz`]: made.package,
  });
}

/** A job as it is in the archive: its spec is called job.MF there. */
async function jobFiles(dir) {
  const files = {};
  for (const one of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!one.isFile()) continue;
    const path = join(one.parentPath ?? one.path, one.name);
    const name = relative(dir, path);
    files[name === "spec" ? "job.MF" : name] = await readFile(path, "utf8");
  }
  return files;
}

function printOf(files, { plain }) {
  return fingerprint(
    Object.entries(files).map(([name, text]) => ({
      ...{ name, content: { type: "text", text }, modeless: plain.includes(name) },
    })),
  );
}

async function archive(files) {
  const pieces = [];
  const entries = Object.entries(files).map(([name, text]) => ({ type: "text", name, mode: 0o644, text }));
  for await (const piece of tarBytes(entries, 0)) pieces.push(piece);
  return gzipSync(Buffer.concat(pieces));
}

function sha256(content) {
  return createHash("sha256").update(content).digest("hex");
}
