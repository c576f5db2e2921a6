import { beforeEach } from "vitest";
import { chosen } from "./sample.ts";

/**
 * For a test file or a `describe` of many long tests that do not build on each other: `npm test` runs this share of them,
 * which the run's seed chooses. Called before other hooks, so that nothing is prepared for the others.
 */
export function sampleTests(share: number): void {
  beforeEach(({ task, skip }) => skip(!chosen(task.fullName, share)));
}
