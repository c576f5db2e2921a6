import { defineConfig } from "vitest/config";

export default defineConfig({
  // Tests read the sources of the other packages, not their builds.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "examples/*/src/**/*.test.ts", "tools/**/*.test.ts"],
    reporters: ["default", "./tools/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
