// Bundles the executables: a CPI starts for every call, and one file starts twice as fast as forty.
import { execFileSync, spawnSync } from "node:child_process";
import { chmod, copyFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { packProgram, removeCaches } from "./code-cache.mjs";
import { bundleConsole } from "./console.mjs";
import { makeDemoRelease } from "./demo-release.mjs";

/**
 * Programs and what the repository loads. Those with `warm` are packed for V8's code cache (docs/decisions/2026-11-18-code-cache.md),
 * which is filled by running them with these arguments. `split`: most starts need a small part of the program.
 */
export const EXECUTABLES = [
  { from: "examples/tiny-cpi/src/main.ts", to: "examples/tiny-cpi/dist/cpi.cjs", warm: [[]] },
  {
    from: "packages/registry/src/bin/slipway-registry.ts",
    to: "packages/registry/dist/slipway-registry.cjs",
    warm: [["--help"]],
  },
  {
    from: "packages/agent/src/bin/slipway-agent.ts",
    to: "packages/agent/dist/slipway-agent.cjs",
    warm: [["--help"]],
  },
  {
    from: "packages/certify/src/bin/agent-conformance.ts",
    to: "packages/certify/dist/agent-conformance.cjs",
    warm: [["--help"]],
  },
  {
    from: "packages/engine/src/templates/render-worker.ts",
    to: "packages/engine/dist/render-worker.mjs",
    format: "esm",
  },
  {
    from: "packages/engine/src/clouds/fork-server-program.ts",
    to: "packages/engine/dist/fork-server.cjs",
  },
  {
    from: "packages/engine/src/templates/write-snapshot.ts",
    to: "packages/engine/dist/write-snapshot.mjs",
    format: "esm",
  },
  {
    from: "packages/cli/src/bin/slipway.ts",
    to: "packages/cli/dist/slipway.cjs",
    split: true,
    warm: [["--help"], ["completion", "bash"]],
  },
  { from: "packages/cpi-local/src/main.ts", to: "packages/cpi-local/dist/cpi.cjs", warm: [[]] },
  { from: "packages/cpi-docker/src/main.ts", to: "packages/cpi-docker/dist/cpi.cjs", warm: [[]] },
  { from: "packages/cpi-aws/src/main.ts", to: "packages/cpi-aws/dist/cpi.cjs", warm: [[]] },
  {
    from: "packages/director/src/bin/slipway-director.ts",
    to: "packages/director/dist/slipway-director.cjs",
    warm: [["--help"]],
  },
  { from: "packages/sim/src/bin/crash.ts", to: "packages/sim/dist/crash.cjs" },
  { from: "packages/sim/src/bin/crash-child.ts", to: "packages/sim/dist/crash-child.cjs" },
  { from: "packages/sim/src/bin/crash-child-start.ts", to: "packages/sim/dist/crash-child-start.cjs" },
  { from: "packages/sim/src/bin/pairs.ts", to: "packages/sim/dist/pairs.cjs" },
  { from: "packages/sim/src/bin/sim.ts", to: "packages/sim/dist/sim.cjs" },
  { from: "packages/sim/src/bench/main.ts", to: "packages/sim/dist/bench.cjs" },
  // What certify loads to play the mixes with a CPI.
  { from: "packages/cpi-local/src/certify/adapter.ts", to: "packages/cpi-local/dist/certify-adapter.cjs" },
  { from: "packages/cpi-docker/src/certify/adapter.ts", to: "packages/cpi-docker/dist/certify-adapter.cjs" },
  { from: "packages/certify/src/bin/mixes.ts", to: "packages/certify/dist/mixes.cjs" },
  { from: "packages/certify/src/bin/matrix.ts", to: "packages/certify/dist/matrix.cjs" },
];

/** How every executable is made; the benchmarks make those of another checkout the same way. */
export const SETTINGS = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  conditions: ["source"],
  minifySyntax: true,
  minifyWhitespace: true,
  // Optional parts of libraries that we do not use; they are asked for inside try blocks.
  external: ["pg-native", "cpu-features", "*.node"],
  legalComments: "none",
  logLevel: "warning",
};

/** Of packed programs: modules of Node that are imported dynamically are required, which is quicker too. */
const PACKED = { ...SETTINGS, supported: { "dynamic-import": false } };

/** The booted Ruby that every thread which renders starts from. */
const SNAPSHOT = "packages/engine/dist/render-snapshot.bin";

const BESIDE_DIRECTOR = [
  "packages/engine/dist/render-worker.mjs",
  "packages/engine/dist/fork-server.cjs",
  SNAPSHOT,
];

/** Programs beside `slipway`, by their names there: all of them are installed as one package. */
const BESIDE_SLIPWAY = {
  "slipway-agent.cjs": "packages/agent/dist/slipway-agent.cjs",
  "slipway-registry.cjs": "packages/registry/dist/slipway-registry.cjs",
  "slipway-director.cjs": "packages/director/dist/slipway-director.cjs",
  "slipway-cpi-local.cjs": "packages/cpi-local/dist/cpi.cjs",
  "slipway-cpi-docker.cjs": "packages/cpi-docker/dist/cpi.cjs",
  "slipway-cpi-aws.cjs": "packages/cpi-aws/dist/cpi.cjs",
  ...Object.fromEntries(BESIDE_DIRECTOR.map((file) => [basename(file), file])),
};

export async function bundle() {
  for (const { from, to, format = SETTINGS.format, warm, split } of EXECUTABLES) {
    if (warm !== undefined) {
      await packProgram({ from, to, split, settings: PACKED });
      await removeCaches(to);
      continue;
    }
    await build({ ...SETTINGS, format, entryPoints: [from], outfile: to });
    await chmod(to, 0o755);
  }
  // A process of its own: esbuild and this program keep their memory.
  execFileSync(process.execPath, ["packages/engine/dist/write-snapshot.mjs", SNAPSHOT], { stdio: "inherit" });
  for (const file of BESIDE_DIRECTOR) await copyFile(file, join("packages/director/dist", basename(file)));
  for (const [name, file] of Object.entries(BESIDE_SLIPWAY))
    await copyFile(file, join("packages/cli/dist", name));
  // Both programs with a Director serve it.
  for (const program of ["director", "cli"]) await bundleConsole(join("packages", program, "dist/console"));
  await makeDemoRelease();
  warmUp();
}

/** What a CPI is asked; other programs do not read it. */
const INFO = JSON.stringify({ method: "info", arguments: [], context: { director_uuid: "build" } });

/** Fills the caches, so that they are packed with the programs. */
function warmUp() {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const beside = Object.entries(BESIDE_SLIPWAY);
  for (const { to, warm = [] } of EXECUTABLES)
    for (const program of [
      to,
      ...beside.filter(([, from]) => from === to).map(([name]) => join("packages/cli/dist", name)),
    ])
      for (const args of warm) spawnSync(process.execPath, [program, ...args], { env, input: INFO });
}
