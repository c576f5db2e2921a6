import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import * as v from "valibot";
import type { LookUp } from "../../documents/variables.ts";

/** Services that generators use. */
export interface Around {
  readonly clock: Clock;
  readonly random: Random;
  /** Looks up a certificate's authority. */
  readonly lookUp: LookUp;
  /** Length of RSA keys where the options do not say; smaller ones are for tests only. */
  readonly bits?: number | undefined;
  /** Why it cannot be generated. */
  readonly fail: (why: string, cause?: unknown) => Error;
}

export type Generator = (options: unknown, around: Around) => Promise<unknown>;

/** Options are few and closed: one that is not known would be silently without effect. */
export function readOptions<const E extends v.ObjectEntries>(
  what: string,
  entries: E,
  options: unknown,
  around: Around,
): v.InferOutput<v.StrictObjectSchema<E, undefined>> {
  const bad = (why: string) => around.fail(`Failed to generate ${what}, parameters are invalid: ${why}`);
  const given = options ?? {};
  if (typeof given !== "object" || Array.isArray(given)) throw bad("options must be a map");
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(entries, key));
  if (unknown !== undefined) throw bad(`Unsupported parameter '${unknown}'`);
  const read = v.safeParse(v.strictObject(entries), { ...given });
  if (read.success) return read.output;
  const issue = read.issues[0];
  throw bad(`'${v.getDotPath(issue) ?? ""}' ${issue.message}`);
}
