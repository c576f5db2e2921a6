/** Without what stands at its end of one character; in time that grows as the text does, which `/x+$/` does not. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
