// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
const COLOUR = /\x1b\[[0-9;]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: everything a terminal could obey, but tab and line end
const CONTROL = /\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Escapes control characters: foreign text must not move the cursor or rename the window. Our own colors pass. */
export function printable(text: string): string {
  return text.replace(CONTROL, (found) =>
    found.startsWith("\x1b[") ? found : `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

/** Nearly every text: a letter is a column. */
const PLAIN = /^[\x20-\x7e]*$/;

/** The columns a text takes on a terminal. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const letter of text.replace(COLOUR, "")) width += widthOfLetter(letter.codePointAt(0) ?? 0);
  return width;
}

function widthOfLetter(point: number): number {
  if (point < 0x300) return 1;
  // Marks on the letter before, joiners, variation selectors.
  if ((point >= 0x300 && point <= 0x36f) || point === 0x200d || (point >= 0xfe00 && point <= 0xfe0f))
    return 0;
  const wide =
    (point >= 0x1100 && point <= 0x115f) ||
    (point >= 0x2e80 && point <= 0xa4cf) ||
    (point >= 0xac00 && point <= 0xd7a3) ||
    (point >= 0xf900 && point <= 0xfaff) ||
    (point >= 0xff00 && point <= 0xff60) ||
    (point >= 0x1f300 && point <= 0x1faff) ||
    (point >= 0x20000 && point <= 0x3fffd);
  return wide ? 2 : 1;
}

export const padded = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - widthOf(text)));

/** At most so many columns, the last one `…` when something is missing. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  for (const letter of text.replace(COLOUR, "")) {
    if (widthOf(kept) + widthOf(letter) > columns - 1) break;
    kept += letter;
  }
  return `${kept}…`;
}
