import { redactRequest } from "@slipway/protocol/cpi/envelope";
import { isObject, open } from "@slipway/protocol/schema/json";
import { secretsIn } from "@slipway/protocol/schema/redact";
import { hiddenFrom, scrubber } from "@slipway/protocol/schema/scrub";
import type { RunProgram } from "../exec-cpi.ts";
import type { Exchange } from "../report/receipt.ts";
import { requestIn } from "./journaled-run.ts";

/** Characters of one piece, and calls of one rule, that a receipt keeps. */
const LONGEST = 4000;
const MOST_CALLS = 30;

/** Records what is said to a CPI while a rule is checked, redacted. */
export class Conversation {
  readonly #configSecrets: readonly string[];
  #calls: Exchange[][] = [];
  #marked = -1;

  constructor(config: unknown) {
    this.#configSecrets = secretsIn(open({}), isObject(config) ? config : {});
  }

  /** Forgets what was said so far. */
  begin(): void {
    this.#calls = [];
    this.#marked = -1;
  }

  /** Marks the last call as the one that violates the rule. What follows is clean-up, and is not kept. */
  mark(): void {
    this.#marked = this.#calls.length - 1;
  }

  get exchanges(): readonly Exchange[] {
    const end = this.#marked === -1 ? this.#calls.length : this.#marked + 1;
    const first = Math.max(0, end - MOST_CALLS);
    const marked = (call: readonly Exchange[], at: number) =>
      at === this.#marked ? call.map((piece) => ({ ...piece, marked: true })) : call;
    const note: readonly Exchange[] =
      first === 0 ? [] : [{ direction: "note", text: `${first} earlier calls are left out` }];
    return [...note, ...this.#calls.map(marked).slice(first, end).flat()];
  }

  /** The same program, recorded. */
  record(run: RunProgram): RunProgram {
    return async (input, signal) => {
      const call: Exchange[] = [];
      this.#calls.push(call);
      const request = requestIn(input);
      const shown = request === undefined ? undefined : redactRequest(request);
      const scrub = scrubber([
        ...this.#configSecrets,
        ...(shown === undefined ? [] : hiddenFrom(request, shown)),
      ]);
      const add = (direction: Exchange["direction"], text: string) =>
        call.push({ direction, text: cut(scrub(text)) });
      add("request", shown === undefined ? input : JSON.stringify(shown));
      try {
        const { out, err, code } = await run(input, signal);
        if (err !== "") add("stderr", err);
        add("response", out);
        if (code !== 0) add("note", `exit code ${code}`);
        return { out, err, code };
      } catch (error) {
        add("note", signal.aborted ? "the call was killed" : "the program could not be run");
        throw error;
      }
    };
  }
}

const cut = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST)}... (${text.length} characters)` : text;
