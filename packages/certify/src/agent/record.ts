import { messageNamed } from "@slipway/protocol/agent/messages";
import { REDACTED, redact } from "@slipway/protocol/schema/redact";
import type { Exchange } from "../report/receipt.ts";

/** Messages of one check that are kept: a check that waits asks the same hundreds of times. */
const MOST_KEPT = 40;
const LONGEST_TEXT = 4_000;

/** Keeps what was said in the check that runs now, redacted by the schemas of the messages. */
export class AgentConversation {
  #exchanges: Exchange[] = [];

  begin(): void {
    this.#exchanges = [];
  }

  request(method: string, args: readonly unknown[], protocol: number): void {
    const known = messageNamed(method);
    const shown = args.map((value, at) => {
      const argument = known?.args[at];
      return argument === undefined && known !== undefined ? REDACTED : shownBy(argument?.schema, value);
    });
    this.#keep({ direction: "request", text: clipped({ protocol, method, arguments: shown }) });
  }

  reply(method: string, reply: unknown): void {
    const value = typeof reply === "object" && reply !== null && "value" in reply ? reply.value : undefined;
    const shown = value === undefined ? reply : { value: shownBy(messageNamed(method)?.result, value) };
    this.#keep({ direction: "response", text: clipped(shown) });
  }

  note(text: string): void {
    this.#keep({ direction: "note", text: text.slice(0, LONGEST_TEXT) });
  }

  /** Returns what was said, with the last piece marked: a check ends at what it does not accept. */
  violation(): readonly Exchange[] {
    const last = this.#exchanges.length - 1;
    return this.#exchanges.map((one, at) => (at === last ? { ...one, marked: true } : one));
  }

  /** The pair of a question that is asked again and again is kept once. */
  #keep(exchange: Exchange): void {
    const kept = this.#exchanges;
    kept.push(exchange);
    const [before, question, again, answer] = kept.slice(-4);
    if (kept.length >= 4 && before?.text === again?.text && question?.text === answer?.text) kept.splice(-2);
    if (kept.length > MOST_KEPT) kept.splice(0, kept.length - MOST_KEPT);
  }
}

const shownBy = (schema: Parameters<typeof redact>[0] | undefined, value: unknown): unknown =>
  schema === undefined ? value : redact(schema, value);

function clipped(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)} (${text.length} characters)`;
}
