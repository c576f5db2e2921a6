import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import LongestFirst from "./tools/longest-first.ts";
import { slowness } from "./tools/slowness.ts";

const TESTS = ["packages/*/src/**/*.test.ts", "examples/*/src/**/*.test.ts", "tools/**/*.test.ts"];
/**
 * Suites that mount real devices on this machine. A sandbox that is started meanwhile has a copy of every mount, and keeps
 * their devices busy: these run when the others have ended.
 */
const DEVICES = ["packages/agent/src/{platform,settings}/**/*.root.test.ts"];

/** Limits of what hangs are for a quiet machine, and up to twice as long on a busy one: measured once for each run. */
const SLOWNESS = slowness(2);

export default defineConfig({
  // Tests read the sources of the other packages, not their builds.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: TESTS,
          exclude: [...configDefaults.exclude, ...DEVICES],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: "devices", include: DEVICES, sequence: { groupOrder: 1 } } },
    ],
    reporters: ["default", "./tools/closing-line.ts"],
    // One database server and one bundle of each program for all workers, made when a test asks.
    globalSetup: "packages/testkit/src/global-setup.ts",
    setupFiles: [
      "packages/testkit/src/seeded.ts",
      // Which test a run of the `bosh` CLI belongs to.
      ...(process.env.SLIPWAY_BOSH_RECORDS === undefined ? [] : ["packages/testkit/src/record-test.ts"]),
    ],
    // A deadline for what must happen, not a measure of how fast: this runs on small and busy machines.
    expect: { poll: { timeout: 60_000 * SLOWNESS, interval: 20 } },
    // Long suites wait for other processes and for time limits: one more than there are processors.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Loading the sources anew for each file would take a fifth of the time. No test changes what another one loads.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    testTimeout: 450_000 * SLOWNESS,
    hookTimeout: 450_000 * SLOWNESS,
  },
});
