import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { RunProgram } from "../exec-cpi.ts";
import type { CpiRuleId } from "../rules/catalogue.ts";
import { type FullTiny, fullTinyProgram, type TestRequest } from "./full-tiny.ts";

/** A CPI that breaks one rule: the full tiny CPI with one change. */
export interface Mutant {
  readonly breaks: string;
  readonly program: (configFile: string) => RunProgram;
  /** Rules that cannot be kept without this one, and why. */
  readonly also?: { readonly rules: readonly CpiRuleId[]; readonly why: string };
}

type Answer = (tiny: FullTiny, request: TestRequest) => Promise<CpiResponse | undefined>;

/** Answers in place of the tiny CPI, unless `answer` resolves to undefined. */
export const instead = (breaks: string, answer: Answer): Mutant => ({
  breaks,
  program: (config) =>
    fullTinyProgram(config, async (tiny, one) => (await answer(tiny, one)) ?? tiny.ask(one)),
});

/** Changes what the tiny CPI answers to a method. */
export const changed = (
  breaks: string,
  method: string,
  change: (reply: CpiResponse, request: TestRequest, tiny: FullTiny) => CpiResponse | Promise<CpiResponse>,
): Mutant =>
  instead(breaks, async (tiny, request) =>
    request.method === method ? await change(await tiny.ask(request), request, tiny) : undefined,
  );
