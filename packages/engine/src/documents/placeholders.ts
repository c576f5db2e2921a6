import { isObject } from "@slipway/protocol/schema/json";
import { newMap } from "./tree.ts";

/** Where something stands in a document: keys and places in lists. */
export type Place = readonly (string | number)[];

/** `((anything))`: what is no name inside is a mistake, not text. */
const ANY = /\(\(([^()\n]*)\)\)/g;
const WHOLE = /^\(\(([^()\n]*)\)\)$/;

/** Which parts of a document are looked at; all when it is not given. */
export type Within = (place: Place) => boolean;

/** What stands for a placeholder. `whole`: it is all of the text, and any value may stand there. */
export type Fill = (written: string, whole: boolean, place: Place) => unknown;

/** The document with its placeholders filled, and everything else as it is. Keys are filled where they are nothing else. */
export function fillPlaceholders(document: unknown, fill: Fill, within: Within = () => true): unknown {
  const text = (value: string, place: Place): unknown => {
    const whole = WHOLE.exec(value)?.[1];
    if (whole !== undefined) return fill(whole, true, place);
    return value.replace(ANY, (_, written: string) => String(fill(written, false, place)));
  };
  const walk = (value: unknown, place: Place): unknown => {
    if (!within(place)) return value;
    if (typeof value === "string") return text(value, place);
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...place, index]));
    if (!isObject(value)) return value;
    const result = newMap();
    for (const [key, item] of Object.entries(value)) {
      const at = [...place, key];
      const whole = WHOLE.exec(key)?.[1];
      const name = whole === undefined || !within(at) ? key : String(fill(whole, false, at));
      if (name !== "__proto__") result[name] = walk(item, at);
    }
    return result;
  };
  return walk(document, []);
}

/** What is written between brackets, each once. */
export function placeholdersIn(document: unknown, within?: Within): ReadonlySet<string> {
  const found = new Set<string>();
  fillPlaceholders(
    document,
    (written) => {
      found.add(written);
      return "";
    },
    within,
  );
  return found;
}

/** `instance_groups[0].env.bosh` */
export const placeText = (place: Place): string =>
  place
    .map((piece, at) => (typeof piece === "number" ? `[${piece}]` : at === 0 ? piece : `.${piece}`))
    .join("");
