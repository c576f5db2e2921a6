const MEMORY_SECTION = 5;
const HEADER = 8;
const HAS_MAXIMUM = 0x01;

/**
 * The module with a limit on its memory, in pages of 64 KiB. Without one a template that allocates without end takes 4 GiB
 * before Ruby says no. The memory section stands for itself: only its few bytes are replaced.
 */
export function withMemoryLimit(module: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  let at = HEADER;
  while (at < module.length) {
    const id = module[at];
    const size = readNumber(module, at + 1);
    const end = size.next + size.value;
    if (id === MEMORY_SECTION) {
      const count = readNumber(module, size.next);
      const minimum = readNumber(module, count.next + 1);
      if (count.value !== 1 || minimum.value > pages)
        throw new Error("this module's memory cannot be limited");
      const body = [...number(1), HAS_MAXIMUM, ...number(minimum.value), ...number(pages)];
      return joined(
        module.subarray(0, at),
        [MEMORY_SECTION, ...number(body.length), ...body],
        module.subarray(end),
      );
    }
    at = end;
  }
  throw new Error("this module has no memory of its own");
}

function joined(...parts: readonly ArrayLike<number>[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** LEB128, unsigned. */
function readNumber(bytes: Uint8Array, start: number): { value: number; next: number } {
  let value = 0;
  for (let at = start, shift = 0; shift < 35; at++, shift += 7) {
    const byte = bytes[at];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, next: at + 1 };
  }
  throw new Error("not a WebAssembly module");
}

function number(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}
