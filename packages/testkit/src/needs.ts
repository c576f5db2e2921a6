/** Part of the machine that some suites need. */
export type Need = "root-loop" | "userns" | "nats-server" | "xfs" | (string & {});

/**
 * Tells whether a suite can run here. When it cannot, one line says which and why: a suite that is silently skipped is
 * believed to have passed. Where `SLIPWAY_REQUIRE` (a comma list, as CI sets it) names the thing, its absence is an
 * error instead.
 *
 *     const root = needs("root-loop", process.getuid?.() === 0);
 *     describe.runIf(root)("…", () => { … });
 */
export function needs(what: Need, available: boolean, why = "it is not available here"): boolean {
  if (available) return true;
  const required = (process.env.SLIPWAY_REQUIRE ?? "").split(",").map((name) => name.trim());
  if (required.includes(what)) {
    throw new Error(`this suite needs ${what}, which SLIPWAY_REQUIRE asks for: ${why}`);
  }
  process.stderr.write(`skipped: a suite that needs ${what}: ${why} (${callerFile()})\n`);
  return false;
}

function callerFile(): string {
  const lines = (new Error().stack ?? "").split("\n");
  const caller = lines.find((line) => line.includes(".test.ts"));
  return /([^/()\s]+\.test\.ts)/.exec(caller ?? "")?.[1] ?? "unknown file";
}
