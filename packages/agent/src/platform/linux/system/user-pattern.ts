import { Script } from "node:vm";
import { InvalidUserPattern } from "../../system-errors.ts";

const LONGEST_NAME = 64;
/** Timeout in wall clock time, since a machine may be busy. */
const PATIENCE_MS = 2_000;

/**
 * The names that match. JavaScript's engine backtracks, so that 30 characters can keep it busy for hours; the virtual
 * machine's limit is what interrupts it.
 */
export function matchingNames(pattern: RegExp, names: readonly string[]): readonly string[] {
  // Flags g and y remember where the last match ended.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
  const input = names.filter((name) => name.length <= LONGEST_NAME);
  try {
    const matched: unknown = new Script(
      "JSON.stringify(names.filter((name) => pattern.test(name)))",
    ).runInNewContext({ pattern: stateless, names: input }, { timeout: PATIENCE_MS });
    const chosen = new Set<unknown>(JSON.parse(String(matched)) as unknown[]);
    return input.filter((name) => chosen.has(name));
  } catch (cause) {
    throw InvalidUserPattern({ why: "matching it takes too long" }, { cause });
  }
}
