import * as v from "valibot";
import { json, open, text } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";
import { REDACTED, redact } from "../schema/redact.ts";
import { apiVersionNumber } from "./api-version.ts";
import { cpiContext } from "./context.ts";
import { methodNamed } from "./methods.ts";

/** One call. Callers send these keys in this order, compact, on one line. */
export const cpiRequest = open({
  method: text("method"),
  arguments: v.array(v.unknown()),
  context: cpiContext,
  api_version: v.optional(doc(apiVersionNumber, "missing means 1")),
});
export type CpiRequest = v.InferOutput<typeof cpiRequest>;

export const cpiErrorBody = open({
  type: text("error.type"),
  message: v.string(),
  ok_to_retry: v.boolean(),
});
export type CpiErrorBody = v.InferOutput<typeof cpiErrorBody>;

/** One reply. All three keys are mandatory for the Director; a non-null error wins. */
export const cpiResponse = open({
  result: json(),
  error: v.nullable(cpiErrorBody),
  log: v.string(),
});
export type CpiResponse = v.InferOutput<typeof cpiResponse>;

/** A request as it may be logged: hidden and secret parts replaced, by schema. */
export function redactRequest(request: CpiRequest): { readonly arguments: readonly unknown[] } {
  const args = methodNamed(request.method)?.args ?? [];
  const shown = {
    method: request.method,
    arguments: request.arguments.map((value, at) => {
      const argument = args[at];
      return argument === undefined ? REDACTED : redact(argument.schema, value);
    }),
    context: redact(cpiContext, request.context),
    ...(request.api_version !== undefined && { api_version: request.api_version }),
  };
  return shown;
}
