/** Bytes before the first section of a module. */
export const HEADER = 8;
const MEMORY_SECTION = 5;
const GLOBAL_SECTION = 6;
const EXPORT_SECTION = 7;
export const DATA_SECTION = 11;
const HAS_MAXIMUM = 0x01;
const GLOBAL_KIND = 0x03;

interface Section {
  readonly id: number;
  /** Offset of the section, its id included. */
  readonly start: number;
  /** Offset of the section's contents. */
  readonly body: number;
  readonly end: number;
}

/** Export name of a global variable of a prepared module. */
export const globalName = (index: number): string => `global ${index}`;

/** Free bytes in front of a module that is prepared: its first sections become longer. */
export const ROOM = 65_536;

/**
 * Returns the module with a limit on its memory, in pages of 64 KiB, and with all its global variables exported. Without a
 * limit, a template that allocates in a loop takes 4 GiB before Ruby stops it. The globals are part of a snapshot. `bytes`
 * begins with `ROOM` bytes for the new sections, so that code and data, which come last, stay where they are.
 */
export function prepareModule(bytes: Uint8Array<ArrayBuffer>, pages: number): Uint8Array<ArrayBuffer> {
  const module = bytes.subarray(ROOM);
  const sections = sectionsOf(module);
  const globals = sections.find(({ id }) => id === GLOBAL_SECTION);
  const count = globals === undefined ? 0 : readNumber(module, globals.body).value;
  const changed = ({ id }: Section) => id === MEMORY_SECTION || id === EXPORT_SECTION;
  const first = sections.slice(0, sections.findLastIndex(changed) + 1);
  const replaced = first.map((section) => {
    if (section.id === MEMORY_SECTION) return limitedMemory(module, section, pages);
    if (section.id === EXPORT_SECTION) return withGlobals(module, section, count);
    return [module.subarray(section.start, section.end)];
  });
  if (![MEMORY_SECTION, EXPORT_SECTION].every((wanted) => sections.some(({ id }) => id === wanted)))
    throw new Error("this module has no memory of its own");
  const head = joined([module.subarray(0, HEADER), ...replaced.flat()]);
  const start = ROOM + (first.at(-1)?.end ?? 0) - head.length;
  if (start < 0) throw new Error("this module has too many globals");
  bytes.set(head, start);
  return bytes.subarray(start);
}

function sectionsOf(module: Uint8Array): readonly Section[] {
  const sections: Section[] = [];
  for (let start = HEADER; start < module.length; ) {
    const size = readNumber(module, start + 1);
    const end = size.next + size.value;
    sections.push({ id: module[start] ?? 0, start, body: size.next, end });
    start = end;
  }
  return sections;
}

function limitedMemory(module: Uint8Array, { body }: Section, pages: number): readonly Uint8Array[] {
  const count = readNumber(module, body);
  const minimum = readNumber(module, count.next + 1);
  if (count.value !== 1 || minimum.value > pages) throw new Error("this module's memory cannot be limited");
  const limits = [HAS_MAXIMUM, ...number(minimum.value), ...number(pages)];
  return section(MEMORY_SECTION, [Uint8Array.from([...number(1), ...limits])]);
}

function withGlobals(module: Uint8Array, { body, end }: Section, globals: number): readonly Uint8Array[] {
  const count = readNumber(module, body);
  const added = Array.from({ length: globals }, (_, index) => {
    const name = Buffer.from(globalName(index));
    return [...number(name.length), ...name, GLOBAL_KIND, ...number(index)];
  });
  return section(EXPORT_SECTION, [
    Uint8Array.from(number(count.value + globals)),
    module.subarray(count.next, end),
    Uint8Array.from(added.flat()),
  ]);
}

export function section(id: number, parts: readonly Uint8Array[]): readonly Uint8Array[] {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return [Uint8Array.from([id, ...number(size)]), ...parts];
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** LEB128, unsigned. */
export function readNumber(bytes: Uint8Array, start: number): { value: number; next: number } {
  let value = 0;
  for (let at = start, shift = 0; shift < 35; at++, shift += 7) {
    const byte = bytes[at];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, next: at + 1 };
  }
  throw new Error("not a WebAssembly module");
}

/** LEB128, unsigned. */
export function number(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}
