import { BadYaml, NotAMap, YamlTooBig } from "@slipway/engine/documents/errors";
import { problemsError } from "@slipway/engine/documents/problems";
import type { Tree } from "@slipway/engine/documents/tree";
import { messageTrail } from "@slipway/kernel/errors";
import type { Documents } from "../documents/documents.ts";
import { TooCostly } from "../documents/errors.ts";
import type { Questions, Text } from "../documents/questions.ts";
import { BadDocument } from "./refusals.ts";
import { written } from "./reply.ts";

/** Keys of YAML text that must be a map; `number` is that of the refusal. */
export async function keysOf<const K extends string>(
  documents: Documents,
  { text, what, number }: Text & { readonly number: number },
  ...keys: readonly K[]
): Promise<Tree & { readonly [key in K]: unknown }> {
  mustNotBeEmpty({ text, what, number });
  return await refusing(number, () => documents.ask("keys", { text, what, keys }) as Promise<never>);
}

/** Refuses a config that no deploy could read. */
export async function checkShape(
  documents: Documents,
  { number, ...asked }: Parameters<Questions["shapeProblems"]>[0] & { readonly number: number },
): Promise<void> {
  const problems = await refusing(number, () => documents.ask("shapeProblems", asked));
  if (problems.length > 0) throw problemsError(`${asked.what} cannot be used`, problems);
}

/** Returns the changes as the lines a CLI shows, together with `more`. `number` is the error number if a side is refused. */
export async function difference<const D extends object>(
  documents: Documents,
  { number, ...asked }: Parameters<Questions["difference"]>[0] & { readonly number: number },
  more: D,
) {
  const { main } = asked.after;
  if ("what" in main) mustNotBeEmpty({ ...main, number });
  return written(more, "diff", await refusing(number, () => documents.ask("difference", asked)));
}

const REFUSED = [BadYaml, YamlTooBig, NotAMap, TooCostly];

async function refusing<T>(number: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!REFUSED.some((one) => one.is(cause))) throw cause;
    throw BadDocument({ why: messageTrail(cause), number }, { cause });
  }
}

function mustNotBeEmpty({ text, what, number }: Text & { readonly number: number }): void {
  if (text.trim() === "") throw BadDocument({ why: `${what} is empty`, number });
}
