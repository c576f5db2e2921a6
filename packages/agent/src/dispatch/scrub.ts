import type { Message } from "@slipway/protocol/agent/message";
import { secretsIn } from "@slipway/protocol/schema/redact";
import { type Scrub, scrubber } from "@slipway/protocol/schema/scrub";
import { normalize } from "./normalize.ts";

/** Takes every secret of these arguments out of a text, however an error came to quote it. */
export function scrubberOf(message: Message, given: unknown): Scrub {
  let scrub: Scrub | undefined;
  return (text) => {
    scrub ??= scrubber(secretsOf(message, given));
    return scrub(text);
  };
}

const secretsOf = (message: Message, given: unknown): readonly string[] =>
  Array.isArray(given)
    ? message.args
        .slice(0, given.length)
        .flatMap(({ schema }, at) => secretsIn(schema, normalize(schema, given[at])))
    : [];
