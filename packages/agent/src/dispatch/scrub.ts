import type { Message } from "@slipway/protocol/agent/message";
import { REDACTED, secretsIn } from "@slipway/protocol/schema/redact";
import { normalize } from "./normalize.ts";

/** Shorter lines of a PEM or a payload could be anybody's text. */
const LEAST_LINE = 16;

/** Takes every secret of these arguments out of a text, however an error came to quote it. */
export function scrubber(message: Message, given: unknown): (text: string) => string {
  let secrets: readonly string[] | undefined;
  return (text) => {
    secrets ??= secretTexts(message, given);
    let clean = text;
    for (const secret of secrets) clean = clean.replaceAll(secret, REDACTED);
    return clean;
  };
}

/** The longest first, so that a whole secret is not left as a redaction with its rest behind it. */
function secretTexts(message: Message, given: unknown): readonly string[] {
  if (!Array.isArray(given)) return [];
  const found = new Set<string>();
  message.args.slice(0, given.length).forEach((arg, at) => {
    for (const secret of secretsIn(arg.schema, normalize(arg.schema, given[at]))) {
      found.add(secret);
      found.add(JSON.stringify(secret).slice(1, -1));
      // A tool quotes the line it stumbled over, not the whole file.
      for (const line of secret.split("\n"))
        if (line.length >= LEAST_LINE && !line.startsWith("-----")) found.add(line);
    }
  });
  return [...found].sort((a, b) => b.length - a.length);
}
