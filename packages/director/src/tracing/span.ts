export type SpanValue = string | number | boolean;

/** Kind of a span; `client` is a call to another program. */
export type SpanKind = "internal" | "client";

/** Work that took some time, and the span around it. Names are few; the attributes tell spans apart. */
export interface Span {
  /** 16 bytes in hex; of a span 8. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Readonly<Record<string, SpanValue | undefined>>;
  /** Reason of the failure. */
  readonly error?: string | undefined;
}
