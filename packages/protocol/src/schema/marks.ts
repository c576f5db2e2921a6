import * as v from "valibot";

export type Schema = v.GenericSchema;

/**
 * `secret`: a credential. Redacted where it stands and scrubbed wherever its text turns up again (logs, messages).
 * `hidden`: data of other parties that may hold a credential. Redacted where it stands.
 */
export type Mark = "secret" | "hidden";

export const secret = <const S extends Schema>(schema: S) => v.pipe(schema, v.metadata({ mark: "secret" }));
export const hidden = <const S extends Schema>(schema: S) => v.pipe(schema, v.metadata({ mark: "hidden" }));

/** Adds the sentence that the generated documentation prints for this field. */
export const doc = <const S extends Schema>(schema: S, text: string) => v.pipe(schema, v.description(text));

interface PipeItem {
  readonly kind: string;
  readonly type: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly description?: string;
}

const pipeOf = (schema: Schema): readonly PipeItem[] =>
  "pipe" in schema ? (schema.pipe as readonly PipeItem[]) : [];

/** Asked for every part of every message. */
const known = new WeakMap<Schema, Mark | "none">();

export function markOf(schema: Schema): Mark | undefined {
  let mark = known.get(schema);
  if (mark === undefined) {
    mark = readMark(schema) ?? "none";
    known.set(schema, mark);
  }
  return mark === "none" ? undefined : mark;
}

function readMark(schema: Schema): Mark | undefined {
  for (const item of pipeOf(schema)) {
    const mark = item.kind === "metadata" ? item.metadata?.mark : undefined;
    if (mark === "secret" || mark === "hidden") return mark;
    // A pipe of pipes: the marks of the inner one count.
    if (item.kind === "schema" && (item as unknown) !== schema) {
      const inner = "pipe" in item ? readMark(item as unknown as Schema) : undefined;
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}

export function docOf(schema: Schema): string | undefined {
  let text: string | undefined;
  for (const item of pipeOf(schema)) {
    if (item.type === "description") text = item.description;
    else if (item.kind === "schema" && "pipe" in item && (item as unknown) !== schema) {
      text = docOf(item as unknown as Schema) ?? text;
    }
  }
  return text;
}
