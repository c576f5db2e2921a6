import type { Span, SpanKind, SpanValue } from "./span.ts";

const KIND: Readonly<Record<SpanKind, number>> = { internal: 1, client: 3 };
const STATUS_ERROR = 2;

type Attributes = Span["attributes"];

/** The body of `POST /v1/traces`: OTLP 1 as JSON, in which ids are hex, and what needs 64 bits is text. */
export const tracesDocument = (resource: Attributes, scope: string, spans: readonly Span[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: scope }, spans: spans.map(spanOf) }],
    },
  ],
});

const spanOf = ({ traceId, spanId, parentId, name, kind, from, to, attributes, error }: Span): object => ({
  traceId,
  spanId,
  ...(parentId !== undefined && { parentSpanId: parentId }),
  name,
  kind: KIND[kind],
  startTimeUnixNano: nanoseconds(from),
  endTimeUnixNano: nanoseconds(Math.max(from, to)),
  attributes: attributesOf(attributes),
  status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
});

const attributesOf = (attributes: Attributes): readonly object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: typed(value) }],
  );

function typed(value: SpanValue): object {
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "string") return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Returns nanoseconds, to the microsecond, which is more than a clock of milliseconds has. */
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n);
