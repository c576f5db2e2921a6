/** Characters that XML 1.0 does not allow, also as references; HTML takes no harm without them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: They are what is to be found.
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu;

/** Characters that change the direction of the text after them, and so what a reader takes a line for. */
const REORDERING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const visible = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/** Returns the text with everything replaced that a terminal, a browser or an XML parser would act on or refuse. */
export const printable = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replace(UNPRINTABLE, visible)
    .replace(REORDERING, visible)
    .replaceAll("\r", "\n");

/** Returns the printable text as one line. */
export const oneLine = (text: string): string => printable(text).replace(/\s+/g, " ").trim();

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns the text for an element or a quoted attribute, of HTML and XML alike. */
export const escaped = (text: string): string =>
  printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

/** Returns the text for an attribute of XML: parsers turn a plain line break there into a space. */
export const escapedAttribute = (text: string): string =>
  escaped(text).replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
