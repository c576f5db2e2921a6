// The release that the demo deploys, `examples/counter-release`, as one file beside `slipway`, with its manifest.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const FROM = "examples/counter-release";
const DIST = "packages/cli/dist";
const PARTS = ["config/final.yml", "config/blobs.yml", "jobs", "packages", "src"];

export const DEMO_RELEASE = join(DIST, "demo-release.tgz");
export const DEMO_SOURCES = [...PARTS, "manifest.yml"].map((part) => join(FROM, part));

/** Made with our own `create-release`, which must have been built. The same files give the same bytes. */
export async function makeDemoRelease() {
  const dir = mkdtempSync(join(tmpdir(), "slipway-demo-release-"));
  try {
    // Not where it stands: git and releases that were made there have no part in it.
    for (const part of PARTS) cpSync(join(FROM, part), join(dir, "release", part), { recursive: true });
    const args = [
      "create-release",
      "--dir",
      join(dir, "release"),
      "--version",
      version(join(dir, "release")),
    ];
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [resolve(DIST, "slipway.cjs"), ...args, "--tarball", resolve(DEMO_RELEASE)],
      { env: { PATH: process.env.PATH, HOME: dir, SLIPWAY_HOME: join(dir, "home") }, encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`the release of the demo was not made: ${stdout}${stderr}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  copyFileSync(join(FROM, "manifest.yml"), join(DIST, "demo-manifest.yml"));
}

/** Older than any that somebody makes of the directory (`0+dev.1`), and another one when a file is another. */
function version(dir) {
  const hash = createHash("sha256");
  for (const name of readdirSync(dir, { recursive: true }).sort())
    if (statSync(join(dir, name)).isFile()) hash.update(`${name}\0`).update(readFileSync(join(dir, name)));
  const { version: ours } = JSON.parse(readFileSync("packages/cli/package.json", "utf8"));
  return `0+demo.${ours}.${hash.digest("hex").slice(0, 8)}`;
}
