import type { Span } from "../span.ts";

/** Returns a span like all others except for `change`. */
export const spanOf = (name: string, at: number, change: Partial<Span> = {}): Span => ({
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  parentId: undefined,
  name,
  kind: "internal",
  from: at,
  to: at,
  attributes: {},
  ...change,
});
