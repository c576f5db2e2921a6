import type { Table } from "./ui.ts";

/** Everything that was printed, in upstream's shape. */
export interface Printed {
  readonly tables: readonly Table[];
  readonly blocks: readonly string[];
  readonly lines: readonly string[];
}

/** Upstream writes null for none, and sorts the keys of header and rows. */
export function renderJson({ tables, blocks, lines }: Printed): string {
  const document = {
    Tables: orNull(tables.map(tableJson)),
    Blocks: orNull(blocks),
    Lines: orNull(lines),
  };
  return `${JSON.stringify(document, null, 4)}\n`;
}

const orNull = <T>(list: readonly T[]) => (list.length === 0 ? null : list);

const tableJson = ({ content, header, rows, notes }: Table) => {
  const keys = Object.keys(header);
  const sorted = [...keys].sort();
  return {
    Content: content,
    Header: Object.fromEntries(sorted.map((key) => [key, header[key] ?? ""])),
    Rows: rows.map((row) => Object.fromEntries(sorted.map((key) => [key, row[keys.indexOf(key)] ?? ""]))),
    Notes: notes ?? null,
  };
};
