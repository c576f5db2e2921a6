import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * First what waits for a minute of monit's. Suites that are sampled are the longest of the others; then come those that start
 * programs.
 */
const SIGNS = [
  /\/testing\/monit-lab\.ts"/,
  /@slipway\/testkit\/(sample|sample-tests|stories)"/,
  /@slipway\/testkit\/(agent-bundle|agent-process|bundle|sandbox)"/,
];

/**
 * Long suites first, so that none of them ends alone. How long each one took is known from the run before: on a fresh clone
 * there was none.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const groups: TestSpecification[][] = [...SIGNS.map(() => []), []];
    for (const one of await super.sort(specifications)) {
      const text = readFileSync(one.moduleId, "utf8");
      const sign = SIGNS.findIndex((pattern) => pattern.test(text));
      groups.at(sign)?.push(one);
    }
    return groups.flat();
  }
}
