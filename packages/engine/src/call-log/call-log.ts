import type { Clock } from "@slipway/kernel/clock";
import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import { tidy } from "./tidy.ts";

/** The start of a call. The caller has taken the secrets out. */
export interface CallStart {
  readonly to: string;
  readonly instance?: string | undefined;
  readonly message: string;
  readonly requestId?: string | undefined;
  readonly apiVersion?: number | undefined;
  readonly stemcellApiVersion?: number | undefined;
  readonly registry?: boolean | undefined;
  readonly request: unknown;
}

/** The rest of the call: it ends once, answered or failed. */
export interface CallRecord {
  polled(): void;
  note(text: string): void;
  answered(answer?: unknown): void;
  failed(why: string): void;
}

export type CallRecorder = (call: CallStart) => CallRecord;

const LONGEST_ERROR = 2_000;

/** Writes a line for every call when the call has ended. */
export function callRecorder(clock: Clock, write: (line: ConversationLine) => void): CallRecorder {
  return ({ to, instance, message, requestId, apiVersion, stemcellApiVersion, registry, request }) => {
    const at = clock.now();
    const began = clock.monotonic();
    let polls = 0;
    let note: string | undefined;
    const end = (outcome: Pick<ConversationLine, "answer" | "error">) =>
      write({
        at,
        ms: tenths(clock.monotonic() - began),
        to,
        ...(instance !== undefined && { instance }),
        message,
        ...(requestId !== undefined && { request_id: requestId }),
        ...(apiVersion !== undefined && { api_version: apiVersion }),
        ...(stemcellApiVersion !== undefined && { stemcell_api_version: stemcellApiVersion }),
        ...(registry === true && { registry }),
        ...(polls > 0 && { polls }),
        ...(note !== undefined && { note }),
        request: tidy(request),
        ...outcome,
      });
    return {
      polled: () => {
        polls += 1;
      },
      note: (text) => {
        note = text;
      },
      answered: (answer) => end(answer === undefined ? {} : { answer: tidy(answer) }),
      failed: (why) => end({ error: why.slice(0, LONGEST_ERROR) }),
    };
  };
}

export const tenths = (ms: number): number => Math.round(ms * 10) / 10;
