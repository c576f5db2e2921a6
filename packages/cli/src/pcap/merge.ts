import { NotACapture } from "./errors.ts";
import { type CaptureKind, HEADER_SIZE, headerOf, packetsOf, readHeader } from "./format.ts";

/** A capture whose packets begin to come. */
export interface OpenCapture {
  readonly name: string;
  readonly kind: CaptureKind;
  /** Content after the header. */
  readonly pieces: AsyncIterable<Buffer>;
}

/** Undefined: it ended before it began. */
export async function openCapture(
  name: string,
  stream: AsyncIterable<Buffer>,
): Promise<OpenCapture | undefined> {
  const pieces = stream[Symbol.asyncIterator]();
  let come: Buffer = Buffer.alloc(0);
  while (come.length < HEADER_SIZE) {
    const next = await pieces.next();
    if (next.done === true) {
      if (come.length > 0) throw NotACapture({ name, why: `it ends after ${come.length} bytes` });
      return undefined;
    }
    come = Buffer.concat([come, next.value]);
  }
  const kind = readHeader(come);
  if (kind === undefined) {
    const begins = JSON.stringify(come.toString("latin1", 0, HEADER_SIZE));
    throw NotACapture({ name, why: `it begins with ${begins}` });
  }
  return { name, kind, pieces: following(come.subarray(HEADER_SIZE), pieces) };
}

async function* following(first: Buffer, rest: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  if (first.length > 0) yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/** Returns the format of a file with packets of all captures, or `links` if their kinds of link differ. */
export function oneKind(
  all: readonly OpenCapture[],
): { readonly kind: Omit<CaptureKind, "littleEndian"> } | { readonly links: readonly string[] } {
  const types = [...new Set(all.map(({ kind }) => kind.linkType))];
  const [linkType = 0] = types;
  if (types.length > 1) {
    const named = (type: number) => all.flatMap(({ name, kind }) => (kind.linkType === type ? [name] : []));
    return { links: types.map((type) => `${linkName(type)} of ${named(type).join(", ")}`) };
  }
  const snaplen = Math.max(0, ...all.map(({ kind }) => kind.snaplen));
  return { kind: { nanoseconds: all.some(({ kind }) => kind.nanoseconds), snaplen, linkType } };
}

/** Link types of Linux interfaces. */
const LINKS: Readonly<Record<number, string>> = {
  0: "loopback",
  1: "Ethernet",
  12: "raw IP",
  101: "raw IP",
  113: "Linux cooked v1",
  276: "Linux cooked v2",
};
const linkName = (type: number): string => LINKS[type] ?? `link type ${type}`;

/** Writes the packets of all captures as they come; calls `ended` for each that sends no more. */
export async function mergeCaptures(
  all: readonly OpenCapture[],
  into: Omit<CaptureKind, "littleEndian">,
  write: (bytes: Buffer, packets: number) => Promise<void>,
  ended: (name: string, broken: boolean) => Promise<void>,
): Promise<void> {
  await write(headerOf(into), 0);
  await Promise.all(
    all.map(async ({ name, kind, pieces }) => {
      const next = packetsOf(kind, into);
      let broken = false;
      for await (const piece of pieces) {
        const come = next(piece);
        broken = come === "broken";
        if (come === "broken") break;
        if (come.count > 0) await write(come.bytes, come.count);
      }
      await ended(name, broken);
    }),
  );
}
