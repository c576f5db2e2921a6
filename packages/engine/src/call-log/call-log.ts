import type { Clock } from "@slipway/kernel/clock";
import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import { tidy } from "./tidy.ts";

/** The beginning of a call. Whoever tells of it has taken the secrets out. */
export interface Said {
  readonly to: string;
  readonly instance?: string | undefined;
  readonly message: string;
  readonly apiVersion?: number | undefined;
  readonly stemcellApiVersion?: number | undefined;
  readonly registry?: boolean | undefined;
  readonly request: unknown;
}

/** What becomes of the call; it ends once. */
export interface Heard {
  polled(): void;
  note(text: string): void;
  answered(answer?: unknown): void;
  failed(why: string): void;
}

export type Hear = (said: Said) => Heard;

const LONGEST_ERROR = 2_000;

/** Writes a line for every call, when it has ended. */
export function listener(clock: Clock, write: (line: ConversationLine) => void): Hear {
  return ({ to, instance, message, apiVersion, stemcellApiVersion, registry, request }) => {
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
