import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** Results of one vitest run, as `test-run.mjs` reads them. */
export interface RunResults {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Errors that no test caught. */
  readonly unhandled: number;
  readonly failures: readonly {
    readonly path: string;
    /** The path from the working directory, for people. */
    readonly file: string;
    readonly titles: readonly string[];
    /** Tests of the file, by state, so that a rerun can replace them. */
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
  }[];
}

/**
 * Ends a run with the one line that continuous integration reads. Under `test-run.mjs`, which names a file in
 * SLIPWAY_TEST_RESULTS, writes the results there instead: the runner prints the line after its reruns.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const results = resultsOf(modules, unhandled.length);
    // Long suites were sampled: a repeated failure needs the same sample.
    const seed = process.env.SLIPWAY_SEED;
    if (results.failed > 0 && seed !== undefined)
      console.log(`the seed was ${seed}: SLIPWAY_SEED=${seed} repeats it`);
    const file = process.env.SLIPWAY_TEST_RESULTS;
    if (file === undefined) {
      const skipped = results.skipped > 0 ? `, ${results.skipped} skipped` : "";
      console.log(`${results.passed} passed, ${results.failed} failed${skipped}`);
    } else writeFileSync(file, JSON.stringify(results));
  }
}

function resultsOf(modules: readonly TestModule[], unhandled: number): RunResults {
  const files = modules.map((module) => {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const titles: string[] = [];
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      count[state] += 1;
      if (state === "failed") titles.push(test.fullName);
    }
    // A file that could not even be loaded has failed without a test to say so.
    if (module.state() === "failed" && count.failed === 0) {
      count.failed = 1;
      titles.push("(the file itself)");
    }
    const { passed, failed } = count;
    return {
      path: module.moduleId,
      file: relative(process.cwd(), module.moduleId),
      titles,
      passed,
      failed,
      skipped: count.skipped + count.pending,
    };
  });
  const sum = (key: "passed" | "failed" | "skipped") => files.reduce((all, one) => all + one[key], 0);
  return {
    passed: sum("passed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    unhandled,
    failures: files.filter(({ failed }) => failed > 0),
  };
}
