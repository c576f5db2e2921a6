import type { IncomingHttpHeaders } from "node:http";
import type { Random } from "@slipway/kernel/random";

/** Longest context id that upstream's tasks keep. */
export const LONGEST_CONTEXT_ID = 64;

const PRINTABLE = /^[\x21-\x7e]+$/;

/** Returns the id of a request in logs and tasks: the caller's own if it is usable, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders, random: Random): string {
  const given = [headers["x-bosh-context-id"], headers["x-request-id"]].flat();
  return given.find((id) => id !== undefined && usable(id)) ?? random.uuid();
}

const usable = (id: string): boolean => id.length <= LONGEST_CONTEXT_ID && PRINTABLE.test(id);

const TRACE_PARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;
const ZEROS = /^0+$/;

/** Returns the W3C `traceparent` of the caller, as version 00 has it. Ignores an invalid one, as the standard says. */
export function traceParentOf(header: string | undefined): string | undefined {
  if (header === undefined || header.length > 512 || !TRACE_PARENT.test(header)) return undefined;
  const [version, trace = "", parent = "", flags, ...more] = header.split("-");
  if (version === "ff" || (version === "00" && more.length > 0)) return undefined;
  if (ZEROS.test(trace) || ZEROS.test(parent)) return undefined;
  return `00-${trace}-${parent}-${flags}`;
}
