import { NoSuchColumn } from "./errors.ts";
import { padded, printable, widthOf } from "./text.ts";
import type { Table } from "./ui.ts";

export interface TableStyle {
  /** `terminal`: titles, footer, aligned. `pipe`: the rows alone, their cells followed by tabs, as upstream. */
  readonly kind: "terminal" | "pipe";
  /** A terminal's width. A table that is wider is printed row by row, each field on a line: nothing is cut off. */
  readonly columns: number;
  readonly bold?: (text: string) => string;
}

/** The table as text, its last line ended. */
export function renderTable(table: Table, look: TableStyle): string {
  const titles = Object.values(table.header).map(printable);
  const rows = table.rows.map((row) => row.map((cell) => (cell === "" ? "-" : printable(cell))));
  const gap = look.kind === "terminal" ? "  " : "\t";
  if (look.kind === "pipe" && table.labeled === true) return fields(titles, rows, gap, (text) => text);
  if (look.kind === "pipe")
    return table.transpose === true
      ? rows
          .map((row) =>
            aligned(
              row.map((cell) => [cell]),
              gap,
            ),
          )
          .join("\n")
      : aligned(rows, gap, table.unpadded);
  const bold = look.bold ?? ((text: string) => text);
  const body =
    table.transpose === true ? fields(titles, rows, gap, bold) : grid(titles, rows, gap, bold, look);
  const head = table.title === undefined ? "" : `${printable(table.title)}\n\n`;
  return head + body + footer(table);
}

/** Only the columns asked for, in the table's own order; by title or by key. */
export function withColumns(table: Table, asked: readonly string[]): Table {
  if (asked.length === 0) return table;
  const entries = Object.entries(table.header);
  const wanted = new Set<number>();
  for (const name of asked) {
    const at = entries.findIndex(([key]) => key === keyOfTitle(name));
    if (at < 0) throw NoSuchColumn({ asked: name, known: entries.map(([key]) => key) });
    wanted.add(at);
  }
  const kept = <T>(list: readonly T[]) => list.filter((_, at) => wanted.has(at));
  // A script that asks for columns wants their values alone.
  return { ...table, labeled: false, header: Object.fromEntries(kept(entries)), rows: table.rows.map(kept) };
}

/** Upstream's key of a title: `Release(s)` is `release_s`. */
const keyOfTitle = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");

type Rows = readonly (readonly string[])[];
type Bold = (text: string) => string;

function grid(titles: readonly string[], rows: Rows, gap: string, bold: Bold, look: TableStyle): string {
  // As upstream: what stands in the first column of the row above is not said again.
  const short = rows.map((row, at) => (row[0] === rows[at - 1]?.[0] ? ["~", ...row.slice(1)] : row));
  const whole = aligned([titles, ...short], gap);
  const lines = whole.split("\n");
  // Upstream ends every line with the gap; a terminal that is exactly as wide must not break there.
  const needed = Math.max(...lines.map((line) => widthOf(line.trimEnd())));
  if (needed > look.columns && titles.length > 1)
    return rows.map((row) => fields(titles, [row], gap, bold)).join("\n");
  const height = Math.max(1, ...titles.map((title) => title.split("\n").length));
  return lines.map((line, at) => (at < height ? bold(line) : line)).join("\n");
}

/** Title and value side by side. */
const fields = (titles: readonly string[], rows: Rows, gap: string, bold: Bold): string => {
  const width = Math.max(0, ...titles.map((title) => widthOf(oneLine(title))));
  return rows
    .map((row) =>
      aligned(
        titles.map((title, at) => [bold(padded(oneLine(title), width)), row[at] ?? "-"]),
        gap,
      ),
    )
    .join("\n");
};

const oneLine = (title: string) => title.replaceAll("\n", " ");

/** Cells of a column begin below each other; the last column is not padded; a cell may have several lines. */
function aligned(rows: Rows, gap: string, unpadded = false): string {
  const widths: number[] = [];
  const split = rows.map((row) => row.map((cell) => cell.split("\n")));
  for (const row of split)
    row.forEach((lines, at) => {
      widths[at] = Math.max(widths[at] ?? 0, ...lines.map(widthOf));
    });
  let text = "";
  for (const row of split) {
    const height = Math.max(1, ...row.map((lines) => lines.length));
    for (let line = 0; line < height; line++) {
      row.forEach((lines, at) => {
        const cell = lines[line] ?? "";
        text += (unpadded || at === row.length - 1 ? cell : padded(cell, widths[at] ?? 0)) + gap;
      });
      text += "\n";
    }
  }
  return text;
}

function footer(table: Table): string {
  const { notes = [], rows, content, count = rows.length } = table;
  const parts = [
    notes.map(printable).join("\n"),
    content === "" || count === null ? "" : `${count} ${rowsText(table, count)}`,
  ];
  return parts
    .filter((part) => part !== "")
    .map((part) => `\n${part}\n`)
    .join("");
}

/** Names the rows. Tables that upstream has keep its word for any number. */
const rowsText = ({ content, rowNames: names }: Table, count: number): string =>
  names === undefined ? content : count === 1 ? names[0] : names[1];
