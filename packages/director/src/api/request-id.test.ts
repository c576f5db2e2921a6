import { expect, it } from "vitest";
import { traceParentOf } from "./request-id.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

it.each([
  [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
  // Of a version to come only what is known counts.
  [`cc-${TRACE}-${SPAN}-01-more`, `00-${TRACE}-${SPAN}-01`],
  [`00-${TRACE}-${SPAN}-01-more`, undefined],
  [`ff-${TRACE}-${SPAN}-01`, undefined],
  [`00-${"0".repeat(32)}-${SPAN}-01`, undefined],
  [`00-${TRACE}-${"0".repeat(16)}-01`, undefined],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
  ["junk", undefined],
  [undefined, undefined],
])("the traceparent %s is taken as %s", (header, taken) => expect(traceParentOf(header)).toBe(taken));
