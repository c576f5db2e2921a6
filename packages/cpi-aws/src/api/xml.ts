import { BadReply } from "../errors.ts";

/** An XML document as JSON: elements are objects, text is a string, lists of AWS are arrays. */
export type XmlValue = string | readonly XmlValue[] | { readonly [name: string]: XmlValue };

interface Element {
  readonly name: string;
  readonly children: Element[];
  text: string;
}

const DEEPEST = 32;
const NAME = /[A-Za-z_][\w.:-]*/y;

/** Elements that are lists although their names do not end in `Set`. An empty list has no `item` to tell it by. */
const LISTS = new Set([
  ...["blockDeviceMapping", "availabilityZoneInfo", "securityGroupInfo", "disks"],
  ...["TargetGroups", "LoadBalancerDescriptions", "Instances", "Errors"],
]);

/** Reads an answer of AWS. Attributes say nothing there and are skipped; DTDs and custom entities are refused. */
export function parseXml(xml: string, doing: string): XmlValue {
  const fail = (why: string) => BadReply({ doing, problems: [`${why} at character ${at}`] });
  const outermost: Element = { name: "", children: [], text: "" };
  const open = [outermost];
  let at = 0;
  const past = (mark: string): string => {
    const end = xml.indexOf(mark, at);
    if (end < 0) throw fail(`${mark} is missing`);
    const piece = xml.slice(at, end);
    at = end + mark.length;
    return piece;
  };
  while (at < xml.length) {
    const top = open.at(-1) ?? outermost;
    if (xml.charAt(at) !== "<") {
      const next = xml.indexOf("<", at);
      const piece = xml.slice(at, next < 0 ? xml.length : next);
      at += piece.length;
      if (open.length > 1) top.text += decoded(piece, fail);
      else if (piece.trim() !== "") throw fail("text outside of the document");
    } else if (xml.startsWith("<![CDATA[", at)) {
      at += 9;
      top.text += past("]]>");
    } else if (xml.startsWith("<?", at)) past("?>");
    else if (xml.startsWith("<!--", at)) past("-->");
    else if (xml.startsWith("</", at)) {
      at += 2;
      if (past(">").trim() !== top.name || open.length === 1)
        throw fail("an element ends that did not begin");
      open.pop();
    } else {
      at += 1;
      NAME.lastIndex = at;
      const name = NAME.exec(xml)?.[0];
      if (name === undefined) throw fail("something other than an element");
      at += name.length;
      const closed = past(">").endsWith("/");
      const element: Element = { name, children: [], text: "" };
      top.children.push(element);
      if (!closed) open.push(element);
      if (open.length > DEEPEST) throw fail("elements are nested too deeply");
    }
  }
  const [root, ...others] = outermost.children;
  if (root === undefined || others.length > 0 || open.length > 1) throw fail("the document is not whole");
  return jsonOf(root);
}

function jsonOf({ name, children, text }: Element): XmlValue {
  const isList =
    name.endsWith("Set") || LISTS.has(name) || ["item", "member"].includes(children[0]?.name ?? "");
  // An element of this name may also be an object, such as `placementGroupSet` beside a list: then it has no items.
  if (isList && children.every((child) => ["item", "member", "Error"].includes(child.name)))
    return children.map(jsonOf);
  if (children.length === 0) return text;
  return Object.fromEntries(children.map((child) => [child.name, jsonOf(child)]));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const decoded = (text: string, fail: (why: string) => Error): string =>
  text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      const code =
        decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(hex, 16) : undefined;
      if (code !== undefined && code <= 0x10ffff) return String.fromCodePoint(code);
      const known = name !== undefined && Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
      if (known === undefined) throw fail(`the entity ${whole} is not known`);
      return known;
    },
  );
