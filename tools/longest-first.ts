import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Suites that are sampled are the longest there are; then come those that start programs. */
const SIGNS = [
  /@slipway\/testkit\/(sample|stories)"/,
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
