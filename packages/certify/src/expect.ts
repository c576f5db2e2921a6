/** Thrown by a check that finds out that it cannot be made. */
export class CannotTell extends Error {}

/** Thrown by a check that needs something the CPI could not make: another rule says why. */
export class Prerequisite extends Error {}

export function expectEqual(got: unknown, wanted: unknown, what: string): void {
  if (JSON.stringify(got) === JSON.stringify(wanted)) return;
  throw new Error(`${what}: got ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`);
}

export function expectIncludes(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`got "${text}", which does not contain "${part}"`);
}

export function expectTrue(condition: boolean, otherwise: string): void {
  if (!condition) throw new Error(otherwise);
}
