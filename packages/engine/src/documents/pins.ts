import { fillPlaceholders, placeholdersIn } from "./placeholders.ts";

/**
 * A pin is a placeholder that says which version it means: `((/lab/shop/db.password@8f1c))`. Pins stand in records and intents,
 * where values must not stand, and mean the same whenever they are resolved. Names cannot have an `@`, so no manifest can contain
 * a pin.
 */
const PIN = /^(\/[a-zA-Z0-9_\-./]+)@([a-zA-Z0-9_\-:]+)$/;

export interface Pin {
  /** Absolute name and path. */
  readonly reference: string;
  readonly id: string;
}

/** Parses the text between the brackets of a placeholder as a pin. */
export function pinIn(written: string): Pin | undefined {
  const [, reference, id] = PIN.exec(written) ?? [];
  return reference === undefined || id === undefined ? undefined : { reference, id };
}

export const pinText = ({ reference, id }: Pin): string => `((${reference}@${id}))`;

/** An id that can stand in a pin. */
export const isPinnable = (id: string): boolean => /^[a-zA-Z0-9_\-:]{1,200}$/.test(id);

/** Returns the document without pins, to compare what was written. Names that were relative stay absolute. */
export const unpinned = (value: unknown): unknown =>
  fillPlaceholders(value, (written) => `((${pinIn(written)?.reference ?? written}))`);

export const hasPins = (value: unknown): boolean =>
  [...placeholdersIn(value)].some((written) => pinIn(written) !== undefined);
