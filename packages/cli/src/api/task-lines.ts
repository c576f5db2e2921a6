import { messageTrail } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import type * as v from "valibot";
import type { DirectorApi } from "./director-api.ts";
import { OddAnswer } from "./errors.ts";

/** The result of a task that is one JSON document per line. `what`: the request, for errors. */
export async function taskLines<const S extends v.GenericSchema>(
  api: DirectorApi,
  task: number,
  schema: S,
  what: string,
): Promise<readonly v.InferOutput<S>[]> {
  return (await api.output(task, "result"))
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => readLine(line, schema, what));
}

function readLine<const S extends v.GenericSchema>(line: string, schema: S, what: string): v.InferOutput<S> {
  let document: unknown;
  try {
    document = parseStrictJson(line, "a line");
  } catch (cause) {
    throw OddAnswer({ what, why: messageTrail(cause) });
  }
  const checked = check(schema, document, "line");
  if (!checked.ok) throw OddAnswer({ what, why: checked.problems.join("; ") });
  return checked.value;
}
