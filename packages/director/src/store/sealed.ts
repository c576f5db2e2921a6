import { isSealed, type Sealer } from "@slipway/kernel/sealer";

/**
 * Value that may hold secrets. It is encrypted on its way to the database and opened on its way back, only here: parameters
 * wrapped as `Sealed`, and result columns whose name ends in `_sealed`.
 */
export class Sealed {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

export const sealParameters = (parameters: readonly unknown[], sealer: Sealer): unknown[] =>
  parameters.map((one) =>
    Array.isArray(one) ? one.map((item) => sealed(item, sealer)) : sealed(one, sealer),
  );

const sealed = (value: unknown, sealer: Sealer): unknown =>
  value instanceof Sealed ? sealer.seal(JSON.stringify(value.value)) : value;

const COLUMN = /_sealed$/;

/** Opens sealed columns in place: the driver made the rows for us. */
export function openRows(rows: readonly Record<string, unknown>[], sealer: Sealer): void {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first).filter((name) => COLUMN.test(name));
  for (const row of columns.length === 0 ? [] : rows)
    for (const name of columns) {
      const value = row[name];
      row[name] = Array.isArray(value) ? value.map((one) => opened(one, sealer)) : opened(value, sealer);
    }
}

/** Opens a sealed value. Values of an earlier version are plain JSON until they are written again. */
const opened = (value: unknown, sealer: Sealer): unknown =>
  typeof value === "string" ? JSON.parse(isSealed(value) ? sealer.open(value) : value) : value;
