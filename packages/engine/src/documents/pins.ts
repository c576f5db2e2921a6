import { fillPlaceholders, placeholdersIn } from "./placeholders.ts";

/**
 * A pin is a placeholder that says which version it means: `((/lab/shop/db.password@8f1c))`. It stands in records and
 * intents, where values must not stand, and means the same whenever it is resolved. No name has an `@`, so nobody can
 * write one.
 */
const PIN = /^(\/[a-zA-Z0-9_\-./]+)@([a-zA-Z0-9_\-:]+)$/;

export interface Pin {
  /** Absolute name and path. */
  readonly reference: string;
  readonly id: string;
}

/** What is written between brackets, if it is a pin. */
export function pinIn(written: string): Pin | undefined {
  const [, reference, id] = PIN.exec(written) ?? [];
  return reference === undefined || id === undefined ? undefined : { reference, id };
}

export const pinText = ({ reference, id }: Pin): string => `((${reference}@${id}))`;

/** An id that can stand in a pin. */
export const isPinnable = (id: string): boolean => /^[a-zA-Z0-9_\-:]{1,200}$/.test(id);

/** As it was before, but for relative names: to compare what was written. */
export const unpinned = (value: unknown): unknown =>
  fillPlaceholders(value, (written) => `((${pinIn(written)?.reference ?? written}))`);

export const hasPins = (value: unknown): boolean =>
  [...placeholdersIn(value)].some((written) => pinIn(written) !== undefined);
