import { MonitAnswerInvalid } from "../errors.ts";

/** Parts of monit's status document that upstream reads. */
export interface MonitStatus {
  readonly incarnation: string;
  /** Services of the requested group. */
  readonly services: readonly MonitService[];
}

export interface MonitService {
  readonly name: string;
  readonly status: number;
  readonly message: string;
  readonly monitor: number;
  readonly pending: boolean;
  readonly uptime: number | undefined;
  readonly memoryKb: number | undefined;
  readonly memoryPercent: number | undefined;
  readonly cpuPercent: number | undefined;
}

interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: Element[];
  text: string;
}

const LARGEST = 4 * 1024 * 1024;
const DEEPEST = 32;

export function parseStatus(xml: string, group: string): MonitStatus {
  const root = parseXml(xml);
  if (root.name !== "monit") throw MonitAnswerInvalid({ why: `a <${root.name.slice(0, 40)}> came` });
  const groups = child(root, "servicegroups")?.children ?? [];
  const members = new Set(
    groups
      .filter((one) => one.attributes.get("name") === group)
      .flatMap((one) => one.children.map((name) => name.text)),
  );
  // monit 5.2 has them inside <services>, older ones directly below the root.
  const all = [
    ...(child(root, "services")?.children ?? []),
    ...root.children.filter((one) => one.name === "service"),
  ];
  return {
    incarnation: root.attributes.get("incarnation") ?? textOf(child(root, "server"), "incarnation") ?? "",
    services: all.filter((one) => one.name === "service" && members.has(nameOf(one))).map(serviceOf),
  };
}

const child = (element: Element | undefined, name: string): Element | undefined =>
  element?.children.find((one) => one.name === name);
const textOf = (element: Element | undefined, name: string): string | undefined => child(element, name)?.text;
const nameOf = (service: Element): string => service.attributes.get("name") ?? textOf(service, "name") ?? "";

function serviceOf(service: Element): MonitService {
  const number = (...path: string[]): number | undefined => {
    const last = path.pop() ?? "";
    const text = textOf(
      path.reduce<Element | undefined>((at, name) => child(at, name), service),
      last,
    );
    const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
    return Number.isFinite(value) ? value : undefined;
  };
  const must = (name: string): number => {
    const value = number(name);
    if (value === undefined)
      throw MonitAnswerInvalid({ why: `the service ${nameOf(service)} has no <${name}>` });
    return value;
  };
  return {
    name: nameOf(service),
    status: must("status"),
    message: textOf(service, "status_message") ?? "",
    monitor: must("monitor"),
    pending: (number("pendingaction") ?? 0) > 0,
    uptime: number("uptime"),
    memoryKb: number("memory", "kilobytetotal"),
    memoryPercent: number("memory", "percenttotal"),
    cpuPercent: number("cpu", "percenttotal"),
  };
}

const NAME = /[A-Za-z_][\w.-]*/y;
const ATTRIBUTE = /\s+([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;

/** Elements, attributes, text and CDATA. What else XML has (custom entities, DTDs) is refused. */
function parseXml(xml: string): Element {
  if (xml.length > LARGEST) throw MonitAnswerInvalid({ why: "it is larger than 4 MiB" });
  const fail = (why: string) => MonitAnswerInvalid({ why: `${why} at character ${at}` });
  const outermost: Element = { name: "", attributes: new Map(), children: [], text: "" };
  const open = [outermost];
  let at = 0;
  const sticky = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(xml);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const past = (mark: string): string => {
    const end = xml.indexOf(mark, at);
    if (end < 0) throw fail(`${mark} is missing`);
    const piece = xml.slice(at, end);
    at = end + mark.length;
    return piece;
  };
  while (at < xml.length) {
    const top = open[open.length - 1] ?? outermost;
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
      const name = sticky(NAME)?.[0];
      if (name !== top.name || past(">").trim() !== "") throw fail("an element ends that did not begin");
      open.pop();
      if (open.length === 0) throw fail("an element ends that did not begin");
    } else {
      at += 1;
      const name = sticky(NAME)?.[0];
      if (name === undefined) throw fail("something other than an element");
      const attributes = new Map<string, string>();
      for (let found = sticky(ATTRIBUTE); found !== null; found = sticky(ATTRIBUTE))
        attributes.set(found[1] ?? "", decoded(found[2] ?? found[3] ?? "", fail));
      const rest = past(">").trim();
      if (rest !== "" && rest !== "/") throw fail("an attribute that cannot be read");
      const element: Element = { name, attributes, children: [], text: "" };
      top.children.push(element);
      if (rest !== "/") open.push(element);
      if (open.length > DEEPEST) throw fail("elements are nested too deeply");
    }
  }
  const [root, ...others] = outermost.children;
  if (root === undefined || others.length > 0 || open.length > 1) throw fail("the document is not whole");
  return root;
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
