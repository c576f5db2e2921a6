import { widthOf } from "./text.ts";

/** A width below this leaves no room for words: the terminal may break the lines itself. */
const NARROWEST = 30;

/** A text in lines of at most so many columns, broken between words; lines after the first begin with `hang`. */
export function wrapped(text: string, columns: number, hang = ""): readonly string[] {
  if (columns < NARROWEST || widthOf(text) <= columns) return [text];
  const lead = /^ */.exec(text)?.[0] ?? "";
  const lines: string[] = [];
  let line = lead;
  let empty = true;
  for (const word of text.slice(lead.length).split(" ")) {
    const longer = empty ? `${line}${word}` : `${line} ${word}`;
    if (!empty && widthOf(longer) > columns) {
      lines.push(line.trimEnd());
      line = `${hang}${word}`;
    } else line = longer;
    empty = false;
  }
  return [...lines, line.trimEnd()];
}
