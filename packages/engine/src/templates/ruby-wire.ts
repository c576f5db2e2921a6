import * as v from "valibot";
import type { Rendering, RenderRequest } from "./request.ts";

const answers = v.array(
  v.union([
    v.object({ text: v.string() }),
    v.object({ line: v.union([v.number(), v.literal("(unknown)")]), message: v.string() }),
  ]),
);

/** A request as the Ruby program takes it: base64, which no quoting can hurt. */
export function encodeRequest({ dialect, context, templates }: RenderRequest): string {
  const plain = templates.map(({ name, source }) => ({
    name,
    source: Buffer.from(source).toString("base64"),
  }));
  return Buffer.from(
    JSON.stringify({ dialect, context: JSON.stringify(context), templates: plain }),
  ).toString("base64");
}

export function decodeAnswer(answer: string, { templates }: RenderRequest): readonly Rendering[] {
  const found = v.parse(answers, JSON.parse(Buffer.from(answer, "base64").toString()));
  if (found.length !== templates.length)
    throw new Error("Ruby answered another number of templates than it was given");
  return templates.map(({ name }, at) => {
    const one = found[at];
    if (one === undefined) throw new Error("unreachable: both lists are of one length");
    if ("text" in one) return { name, text: Buffer.from(one.text, "base64") };
    return { name, line: one.line === "(unknown)" ? undefined : one.line, message: one.message };
  });
}
