import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";
import base from "../vitest.config.ts";

const root = new URL("..", import.meta.url).pathname;

/** Attacks that are tests as well: with a real disk, a real database, a real sandbox. */
const TESTS = [
  // No space: neither the Director nor an agent dies of it, and tasks go on.
  "packages/cli/src/up/full-disk.root.test.ts",
  "packages/agent/src/settings/full-disk.root.test.ts",
  "packages/director/src/tasks/no-space.test.ts",
  // Documents and patterns that take long.
  "packages/director/src/documents/workers.test.ts",
  "packages/director/src/api/busy.test.ts",
  "tools/patterns.test.ts",
  // A database that dies, or cannot be started again; a CPI that is killed.
  "packages/director/src/tasks/store-lost.test.ts",
  "packages/cli/src/up/trouble.test.ts",
  "packages/director/src/store/cpi-killed.test.ts",
  // Uploads that fail, are cancelled, or come all at once.
  "packages/director/src/api/uploads.test.ts",
  // Paths that lead out, names that no store keeps.
  "packages/agent/src/actions/logs.test.ts",
  "packages/director/src/api/hostile-input.test.ts",
  "packages/engine/src/manifest/deployment.test.ts",
  // A clock that was ahead; passwords that are guessed; logs that grow.
  "packages/engine/src/pki/pki.test.ts",
  "packages/director/src/api/auth.test.ts",
  "packages/kernel/src/resilient-output.test.ts",
  "packages/agent/src/log.test.ts",
  // Root of a sandbox.
  "packages/cpi-local/src/sandbox/root-inside.test.ts",
  "packages/cpi-local/src/sandbox/escape.test.ts",
  // Another team's sandboxes, agents, blobs and subjects.
  "packages/cpi-local/src/sandbox/tenants.test.ts",
  "packages/director/src/nats/tenants.test.ts",
  "packages/sim/src/tenants/agents.test.ts",
];
for (const file of TESTS) if (!existsSync(`${root}${file}`)) throw new Error(`there is no ${file}`);

/** `npm run test:hostile`: what attacks a Director and an agent that were really started, and the tests that attack. */
const { projects: _, ...test } = base.test ?? {};
export default defineConfig({
  ...base,
  test: {
    ...test,
    root,
    include: ["packages/*/src/hostile/testing/*.hostile.ts", ...TESTS],
    reporters: ["default", "./tools/hostile-total.ts", "./tools/closing-line.ts"],
  },
});
