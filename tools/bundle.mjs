// Bundles the executables: a CPI starts for every call, and one file starts twice as fast as forty.
import { chmod } from "node:fs/promises";
import { build } from "esbuild";

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
  { from: "packages/certify/src/bin/matrix.ts", to: "packages/certify/dist/matrix.cjs" },
];

export async function bundle() {
  for (const { from, to } of EXECUTABLES) {
    await build({
      entryPoints: [from],
      outfile: to,
      bundle: true,
      platform: "node",
      target: "node20",
      format: "cjs",
      conditions: ["source"],
      minifySyntax: true,
      minifyWhitespace: true,
      legalComments: "none",
      logLevel: "warning",
    });
    await chmod(to, 0o755);
  }
}
