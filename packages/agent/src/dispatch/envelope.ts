import { parseStrictJson } from "@slipway/kernel/strict-json";

/** A request, read but not judged. */
export interface ReceivedRequest {
  /** Empty when none was named. */
  readonly method: string;
  /** 0 when missing, as the CLI leaves it. */
  readonly protocol: number;
  /** Whatever stood there; whether it is a list is judged where its errors belong (see `readArguments`). */
  readonly arguments: unknown;
  readonly replyTo: string | undefined;
  /** The sender takes the value of a task that ends at once in the place of the task. */
  readonly takesResult: boolean;
  /** Request body as received, for the record of unfinished tasks. */
  readonly body: string;
}

/**
 * Reads an envelope as upstream does, in whatever case its keys are, `null` and missing alike. Undefined for what is
 * not a request: there is no caller to answer.
 */
export function readRequest(body: string): ReceivedRequest | undefined {
  const parsed = parsedOrUndefined(body);
  if (parsed === undefined || (typeof parsed !== "object" && parsed !== null) || Array.isArray(parsed))
    return undefined;
  const fields = new Map<string, unknown>();
  for (const [key, value] of Object.entries(parsed ?? {})) fields.set(key.toLowerCase(), value ?? undefined);
  const method = fields.get("method") ?? "";
  const protocol = fields.get("protocol") ?? 0;
  const replyTo = fields.get("reply_to");
  if (typeof method !== "string" || !Number.isSafeInteger(protocol)) return undefined;
  if (replyTo !== undefined && typeof replyTo !== "string") return undefined;
  return {
    method,
    protocol: protocol as number,
    arguments: fields.get("arguments") ?? [],
    replyTo,
    takesResult: fields.get("takes_result") === true,
    body,
  };
}

function parsedOrUndefined(body: string): unknown {
  try {
    return parseStrictJson(body, "the request");
  } catch {
    return undefined;
  }
}
