import type { ComponentChildren } from "preact";

export interface Column<T> {
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
}

/** A table of what is never long. */
export function Table<T>({
  label,
  columns,
  rows,
  keyOf,
  empty,
}: {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** Shown in place of a table without rows. */
  readonly empty: string;
}) {
  if (rows.length === 0) return <p class="faint">{empty}</p>;
  return (
    <div class="scroll">
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell }) => (
                <td key={name}>{cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
