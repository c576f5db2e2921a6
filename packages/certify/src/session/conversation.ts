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
  readonly #secrets: readonly string[];
  /** Secrets in the requests of the rule. */
  #hidden: readonly string[] = [];
  #calls: Exchange[][] = [];
  #marked = -1;

  /** `ownSecrets` are those of the run, which the operator's configuration does not have. */
  constructor(config: unknown, ownSecrets: readonly string[] = []) {
    this.#secrets = [...secretsIn(open({}), isObject(config) ? config : {}), ...ownSecrets];
  }

  /** Forgets what was said so far. */
  begin(): void {
    this.#calls = [];
    this.#hidden = [];
    this.#marked = -1;
  }

  /** Takes the secrets of the run, and of the rule's requests, out of a text: a CPI may quote them in its error. */
  redact(text: string): string {
    return scrubber([...this.#secrets, ...this.#hidden])(text);
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
      const hidden = shown === undefined ? [] : hiddenFrom(request, shown);
      this.#hidden = [...this.#hidden, ...hidden];
      const scrub = scrubber([...this.#secrets, ...hidden]);
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
