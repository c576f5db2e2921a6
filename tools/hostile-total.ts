import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const file = join(tmpdir(), `slipway-hostile-${process.pid}`);

/** How many inputs were tried by all families together. Families that tried none are no success. */
export default class HostileTotal implements Reporter {
  onInit(): void {
    process.env.SLIPWAY_HOSTILE_TOTAL = file;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = read().split("\n").map(Number);
    rmSync(file, { force: true });
    const all = counts.reduce((sum, count) => sum + count, 0);
    const families = modules.filter(({ moduleId }) => moduleId.endsWith(".hostile.ts")).length;
    console.log(`hostile: ${all} inputs tried in all (families: ${families})`);
    if (families > 0 && all === 0) process.exitCode = 1;
  }
}

function read(): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
