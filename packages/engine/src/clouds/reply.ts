import { toError } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type CpiRequest, type CpiResponse, cpiResponse } from "@slipway/protocol/cpi/envelope";
import { check } from "@slipway/protocol/schema/check";
import { isObject } from "@slipway/protocol/schema/json";
import { CpiLost } from "./cloud.ts";
import { CpiAnswerUnusable, CpiKilled } from "./errors.ts";

const SHOWN_CHARS = 300;

export interface ReplyOf {
  readonly cpi: string;
  readonly request: CpiRequest;
  readonly hide: (text: string) => string;
  /** Such as `exit code 1`. */
  readonly ended: string;
}

/** Decodes the reply on a CPI's stdout: exactly one object. Failures use upstream's words. */
export function readReply(stdout: Uint8Array, about: ReplyOf): CpiResponse {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(stdout);
  } catch {
    throw invalid(about, `ParserError - the reply is not UTF-8 (${about.ended})`);
  }
  let value: unknown;
  try {
    value = parseStrictJson(text, "the reply");
  } catch (error) {
    const shown = excerpt(about.hide(text));
    throw invalid(about, `ParserError - ${toError(error).message} (${about.ended}): '${shown}'`);
  }
  return checkReply(value, about);
}

export function checkReply(
  value: unknown,
  about: Omit<ReplyOf, "ended" | "hide"> & Partial<Pick<ReplyOf, "hide">>,
): CpiResponse {
  const checked = check(cpiResponse, value, "reply");
  if (checked.ok) return checked.value;
  const words = about.hide === undefined ? "" : excerpt(about.hide(wordsIn(value)));
  const said = words === "" ? "" : `; it says: '${words}'`;
  throw invalid(about, `SchemaValidationError: ${checked.problems.join("; ")}${said}`);
}

/** Returns the error and log texts of a reply of the wrong form. Its result may be anything, and is not shown. */
function wordsIn(value: unknown): string {
  if (!isObject(value)) return "";
  const { error, log } = value;
  const message = isObject(error) ? error.message : error;
  return [message, log].filter((text) => typeof text === "string" && text !== "").join("; log: ");
}

function invalid(
  { cpi, request, ended }: Pick<ReplyOf, "cpi" | "request"> & { readonly ended?: string },
  why: string,
): CpiLost {
  const { method } = request;
  const killedBy = ended !== undefined && KILLED.test(ended) ? ended : undefined;
  const cause =
    killedBy === undefined ? CpiAnswerUnusable({ cpi, method }) : CpiKilled({ cpi, method, how: killedBy });
  return new CpiLost(method, `Invalid CPI response - ${why} ${inMethod(request)}`, { cause, killedBy });
}

/** Signals that others send; a CPI that crashes by itself gets others. A shell that stands between adds 128 to theirs. */
const KILLED = /^(signal SIG(KILL|TERM|INT|HUP|QUIT)|exit code (129|130|131|137|143))$/;

/** Names the CPI method and request id in upstream's words. */
export const inMethod = (request: CpiRequest): string =>
  `in '${request.method}' CPI method (CPI request ID: '${request.context.request_id ?? ""}')`;

const excerpt = (text: string): string =>
  text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}...` : text;
