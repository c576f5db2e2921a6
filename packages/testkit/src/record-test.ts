import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";

/**
 * Set-up of `npm run test:bosh-cli`: notes which test runs in this process, for the recorder in front of the `bosh` CLI
 * (`tools/bosh-recorder.mjs`), whose runs belong to it.
 */
const dir = process.env.SLIPWAY_BOSH_RECORDS;
if (dir !== undefined) {
  const path = join(dir, `test-${process.pid}`);
  const note = (test: string) => {
    const { testPath = "" } = expect.getState();
    writeFileSync(path, `${JSON.stringify({ file: basename(testPath), test })}\n`);
  };
  beforeAll(() => note(""));
  beforeEach(({ task }) => note(task.name));
  afterAll(() => rmSync(path, { force: true }));
}
