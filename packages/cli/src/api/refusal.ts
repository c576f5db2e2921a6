import type { SlipwayError } from "@slipway/kernel/errors";
import { DirectorRefused } from "./errors.ts";
import { ADVICE } from "./task-failure.ts";

/** A Director's reply that refuses a request. */
export interface ApiRefusal {
  readonly status: number;
  readonly directorCode: number | undefined;
  readonly description: string;
  /** Its whole body, for the few refusals that say more. */
  readonly body: string;
}

const refusals = new WeakMap<Error, ApiRefusal>();

export function refusedBy(what: string, status: number, body: string): SlipwayError {
  const refusal = { status, body, ...said(body) };
  // What to do stands in its own line, and nothing where the Director does not say it.
  const [description = "", ...advice] = refusal.description.split(ADVICE);
  const error = DirectorRefused({ what, ...refusal, description, advice: advice.join(" ") });
  refusals.set(error, refusal);
  return error;
}

/** The refusal behind an error, for commands that go on from some of them. */
export const refusalOf = (error: unknown): ApiRefusal | undefined =>
  error instanceof Error ? refusals.get(error) : undefined;

const LONGEST = 500;

function said(body: string): Pick<ApiRefusal, "directorCode" | "description"> {
  try {
    const document: unknown = JSON.parse(body);
    if (typeof document === "object" && document !== null && "description" in document) {
      const { description } = document;
      const code = "code" in document ? document.code : undefined;
      if (typeof description === "string")
        return { directorCode: typeof code === "number" ? code : undefined, description };
    }
  } catch {
    // Not every refusal is JSON.
  }
  const text = body.trim();
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
  return { directorCode: undefined, description: short === "" ? "it gave no reason" : short };
}
