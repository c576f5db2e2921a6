import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Tests read the sources of the other packages, not their builds.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "examples/*/src/**/*.test.ts", "tools/**/*.test.ts"],
    reporters: ["default", "./tools/closing-line.ts"],
    // One database server and one bundle of each program for all workers, made when a test asks.
    globalSetup: "packages/testkit/src/global-setup.ts",
    // A deadline for what must happen, not a measure of how fast: this runs on small and busy machines.
    expect: { poll: { timeout: 120_000, interval: 20 } },
    // Most suites wait for other processes: a small machine has room for one more.
    maxWorkers: Math.max(2, availableParallelism()),
    // Loading the sources anew for each file would take a fifth of the time. No test changes what another one loads.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
