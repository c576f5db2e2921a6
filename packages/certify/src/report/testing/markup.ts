/** Element of a document that was read by `markupOf`. */
export interface Markup {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Markup[];
  text: string;
}

const VOID = new Set(["meta", "input", "br"]);
const TAG = /<(\/?)([a-zA-Z][\w:-]*)((?:\s+[\w:-]+(?:="[^"<]*")?)*)\s*(\/?)>/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: They are what is to be found.
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;
const ENTITY = /&(amp|lt|gt|quot|#39|#10|#9);/g;
const CHARACTERS: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  "#10": "\n",
  "#9": "\t",
};

/** Reads XML, or HTML written as strictly, and throws where a parser would refuse it or repair it. */
export function markupOf(source: string, raw: readonly string[] = []): Markup {
  if (FORBIDDEN.test(source)) throw new Error("a character that no document may have");
  const root: Markup = { name: "", attributes: {}, children: [], text: "" };
  const open: Markup[] = [root];
  let at = /^(?:<\?xml [^>]*\?>|<!doctype html>)\n/.exec(source)?.[0].length ?? 0;
  while (at < source.length) {
    const next = source.indexOf("<", at);
    const top = open.at(-1) as Markup;
    top.text += decoded(source.slice(at, next === -1 ? source.length : next));
    if (next === -1) break;
    TAG.lastIndex = next;
    const tag = TAG.exec(source);
    if (tag === null) throw new Error(`no tag at: ${source.slice(next, next + 60)}`);
    const [whole, closing, name = "", attributes = "", selfClosing] = tag;
    at = next + whole.length;
    if (closing === "/") {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes another element`);
      continue;
    }
    const element: Markup = { name, attributes: attributesOf(attributes), children: [], text: "" };
    top.children.push(element);
    if (raw.includes(name)) {
      const end = source.indexOf(`</${name}>`, at);
      element.text = source.slice(at, end);
      at = end + name.length + 3;
    } else if (selfClosing !== "/" && !(raw.length > 0 && VOID.has(name))) open.push(element);
  }
  if (open.length !== 1) throw new Error(`<${open.at(-1)?.name}> is not closed`);
  return root;
}

export const elements = (root: Markup, name: string): readonly Markup[] =>
  root.children.flatMap((one) => [...(one.name === name ? [one] : []), ...elements(one, name)]);

const attributesOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/([\w:-]+)(?:="([^"]*)")?/g)].map(([, name = "", value = ""]) => [
      name,
      decoded(value),
    ]),
  );

function decoded(text: string): string {
  if (/&(?!(?:amp|lt|gt|quot|#39|#10|#9);)/.test(text)) throw new Error(`a bare & in: ${text.slice(0, 60)}`);
  return text.replace(ENTITY, (_, name: string) => CHARACTERS[name] ?? "");
}
