// Bundles the executables: a CPI starts for every call, and one file starts twice as fast as forty.
import { execFileSync } from "node:child_process";
import { chmod, copyFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { makeDemoRelease } from "./demo-release.mjs";

export const EXECUTABLES = [
  { from: "examples/tiny-cpi/src/main.ts", to: "examples/tiny-cpi/dist/cpi.cjs" },
  {
    from: "packages/registry/src/bin/slipway-registry.ts",
    to: "packages/registry/dist/slipway-registry.cjs",
  },
  { from: "packages/agent/src/bin/slipway-agent.ts", to: "packages/agent/dist/slipway-agent.cjs" },
  {
    from: "packages/certify/src/bin/agent-conformance.ts",
    to: "packages/certify/dist/agent-conformance.cjs",
  },
  {
    from: "packages/engine/src/templates/render-worker.ts",
    to: "packages/engine/dist/render-worker.mjs",
    format: "esm",
  },
  {
    from: "packages/engine/src/templates/write-snapshot.ts",
    to: "packages/engine/dist/write-snapshot.mjs",
    format: "esm",
  },
  { from: "packages/cli/src/bin/slipway.ts", to: "packages/cli/dist/slipway.cjs" },
  { from: "packages/cpi-local/src/main.ts", to: "packages/cpi-local/dist/cpi.cjs" },
  { from: "packages/cpi-docker/src/main.ts", to: "packages/cpi-docker/dist/cpi.cjs" },
  {
    from: "packages/director/src/bin/slipway-director.ts",
    to: "packages/director/dist/slipway-director.cjs",
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
  external: ["pg-native"],
  legalComments: "none",
  logLevel: "warning",
};

/** The booted Ruby that every thread which renders starts from. */
const SNAPSHOT = "packages/engine/dist/render-snapshot.bin";

/** Programs that `slipway` starts stand beside it: it is installed as one package. */
const BESIDE_SLIPWAY = [
  "packages/agent/dist/slipway-agent.cjs",
  "packages/registry/dist/slipway-registry.cjs",
  "packages/engine/dist/render-worker.mjs",
  SNAPSHOT,
];

export async function bundle() {
  for (const { from, to, format = SETTINGS.format } of EXECUTABLES) {
    await build({ ...SETTINGS, format, entryPoints: [from], outfile: to });
    await chmod(to, 0o755);
  }
  // A process of its own: esbuild and this program keep their memory.
  execFileSync(process.execPath, ["packages/engine/dist/write-snapshot.mjs", SNAPSHOT], { stdio: "inherit" });
  for (const file of ["packages/engine/dist/render-worker.mjs", SNAPSHOT])
    await copyFile(file, join("packages/director/dist", basename(file)));
  for (const file of BESIDE_SLIPWAY) await copyFile(file, join("packages/cli/dist", basename(file)));
  await makeDemoRelease();
}
