import { isObject } from "@slipway/protocol/schema/json";
import { newMap } from "./tree.ts";

/** Path of a value in a document: keys and indexes of lists. */
export type Place = readonly (string | number)[];

/** `((anything))`: what is no name inside is a mistake, not text. */
const ANY = /\(\(([^()\n]*)\)\)/g;
const WHOLE = /^\(\(([^()\n]*)\)\)$/;

/** Selects the parts of a document to look at; default all. */
export type Within = (place: Place) => boolean;

/** Returns the value of a placeholder. `whole`: the placeholder is all of the text, and may become any value. */
export type Fill = (written: string, whole: boolean, place: Place) => unknown;

/** The document with its placeholders filled, and everything else as it is. Keys are filled where they are nothing else. */
export function fillPlaceholders(document: unknown, fill: Fill, within?: Within): unknown {
  const filling = fillSteps(document, fill, within);
  for (;;) {
    const { done, value } = filling.next();
    if (done) return value;
  }
}

/** The same in slices of a few milliseconds, between which other work of the thread goes on. */
export async function fillInSlices(document: unknown, fill: Fill, within?: Within): Promise<unknown> {
  const filling = fillSteps(document, fill, within);
  for (;;) {
    const { done, value } = filling.next();
    if (done) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Returns the texts between the brackets of all placeholders, each once. */
export function placeholdersIn(document: unknown, within?: Within): ReadonlySet<string> {
  const found = new Set<string>();
  fillPlaceholders(document, collect(found), within);
  return found;
}

/** The same in slices. */
export async function placeholdersInSlices(document: unknown, within?: Within): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  await fillInSlices(document, collect(found), within);
  return found;
}

const collect =
  (found: Set<string>): Fill =>
  (written) => {
    found.add(written);
    return "";
  };

/** Values and placeholders between two pauses. */
const SLICE = 5000;

function* fillSteps(
  document: unknown,
  fill: Fill,
  within: Within = () => true,
): Generator<undefined, unknown, undefined> {
  let steps = 0;
  const isSliceOver = () => {
    steps += 1;
    return steps % SLICE === 0;
  };
  function* fillText(value: string, place: Place): Generator<undefined, unknown, undefined> {
    const whole = WHOLE.exec(value)?.[1];
    if (whole !== undefined) return fill(whole, true, place);
    let [filled, end] = ["", 0];
    for (const match of value.matchAll(ANY)) {
      filled += value.slice(end, match.index) + String(fill(match[1] ?? "", false, place));
      end = match.index + match[0].length;
      if (isSliceOver()) yield;
    }
    return end === 0 ? value : filled + value.slice(end);
  }
  function* walk(value: unknown, place: Place): Generator<undefined, unknown, undefined> {
    if (!within(place)) return value;
    if (typeof value === "string") return yield* fillText(value, place);
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) {
        if (isSliceOver()) yield;
        items.push(isPlain(item) ? item : yield* walk(item, [...place, items.length]));
      }
      return items;
    }
    if (!isObject(value)) return value;
    const result = newMap();
    for (const [key, item] of Object.entries(value)) {
      if (isSliceOver()) yield;
      const at = [...place, key];
      const whole = WHOLE.exec(key)?.[1];
      const name = whole === undefined || !within(at) ? key : String(fill(whole, false, at));
      if (name !== "__proto__") result[name] = isPlain(item) ? item : yield* walk(item, at);
    }
    return result;
  }
  return yield* walk(document, []);
}

/** Without placeholders, and with nothing inside that could have one. */
const isPlain = (value: unknown): boolean =>
  typeof value === "string" ? !value.includes("((") : typeof value !== "object" || value === null;

/** `instance_groups[0].env.bosh` */
export const placeText = (place: Place): string =>
  place
    .map((piece, at) => (typeof piece === "number" ? `[${piece}]` : at === 0 ? piece : `.${piece}`))
    .join("");
