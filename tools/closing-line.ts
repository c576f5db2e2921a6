import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with the one line that continuous integration reads. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      const before = count.failed;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      // A file that could not even be loaded has failed without a test to say so.
      if (module.state() === "failed" && count.failed === before) count.failed += 1;
    }
    // Long suites were sampled: whoever repeats a failure needs the same sample.
    const seed = process.env.SLIPWAY_SEED;
    if (count.failed > 0 && seed !== undefined)
      console.log(`the seed was ${seed}: SLIPWAY_SEED=${seed} repeats it`);
    const skipped = count.skipped + count.pending;
    console.log(`${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  }
}
