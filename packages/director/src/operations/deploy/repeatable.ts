import type { PlanInput } from "@slipway/engine/plan/model";

/** An input that can be planned twice: after `rewind` the same ids and chances come again, and new ones after those. */
export function repeatable(given: PlanInput): { readonly input: PlanInput; readonly rewind: () => void } {
  const ids = recorded(given.newUuid);
  const fractions = recorded(given.fraction);
  return {
    input: { ...given, newUuid: ids.next, fraction: fractions.next },
    rewind: () => {
      ids.rewind();
      fractions.rewind();
    },
  };
}

function recorded<T>(make: () => T): { readonly next: () => T; readonly rewind: () => void } {
  const all: T[] = [];
  let at = 0;
  return {
    next: () => {
      if (at === all.length) all.push(make());
      at += 1;
      return all[at - 1] as T;
    },
    rewind: () => {
      at = 0;
    },
  };
}
