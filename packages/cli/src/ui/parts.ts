import { cut, padded, printable, widthOf } from "./text.ts";

/** A piece of a line and its colour. */
export type LinePart = readonly [text: string, paint?: (text: string) => string];

/** Returns foreign text on one line, with only printable characters. */
export const oneLine = (text: string): string => printable(text.replace(/\s+/g, " ").trim());

export const widthOfParts = (parts: readonly LinePart[]): number =>
  parts.reduce((sum, [text]) => sum + widthOf(text), 0);

/** A line of at most so many columns: it is cut first and painted then. */
export function lineOf(parts: readonly LinePart[], columns: number): string {
  let room = columns;
  let line = "";
  for (const [text, paint] of parts) {
    if (room <= 0) break;
    const shown = cut(text, room);
    room -= widthOf(shown);
    line += paint === undefined ? shown : paint(shown);
    if (shown !== text) break;
  }
  return line;
}

/** Something at the left and something at the right end, which goes before it. */
export function bothEnds(left: readonly LinePart[], right: readonly LinePart[], columns: number): string {
  const wide = widthOfParts(right);
  if (wide + 8 > columns) return lineOf(left, columns);
  const room = columns - wide - 1;
  const gap = Math.max(0, room - widthOfParts(left)) + 1;
  return lineOf(left, room) + padded("", gap) + lineOf(right, wide);
}

/** Like `████░░░░`. */
export function barOf(done: number, total: number, width: number): string {
  const full = total <= 0 ? 0 : Math.min(width, Math.round((done / total) * width));
  return "█".repeat(full) + "░".repeat(width - full);
}
