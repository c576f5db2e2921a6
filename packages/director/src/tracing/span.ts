export type SpanValue = string | number | boolean;

/** `client`: a call to somebody else. */
export type SpanKind = "internal" | "client";

/** What took some time, and within what it did. Names are few; what tells one from another is in the attributes. */
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
  /** Why it failed. */
  readonly error?: string | undefined;
}
