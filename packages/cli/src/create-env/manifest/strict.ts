import { type Fields, WRONG_VALUE } from "@slipway/engine/documents/fields";
import { shown } from "@slipway/engine/documents/problems";

/** Reports unknown keys: each was meant for something. */
export function onlyKeys(fields: Fields, known: readonly string[]): void {
  for (const key of Object.keys(fields.map)) {
    if (known.includes(key)) continue;
    fields.wrong(WRONG_VALUE, shown(key), "this key means nothing here", `Known are ${known.join(", ")}.`);
  }
}
