/** Header of a capture, which applies to all its packets. */
export interface CaptureKind {
  readonly littleEndian: boolean;
  /** Its times; else they are in microseconds. */
  readonly nanoseconds: boolean;
  /** Most that is kept of a packet. */
  readonly snaplen: number;
  /** Ethernet is 1. */
  readonly linkType: number;
}

export const HEADER_SIZE = 24;
const PACKET_HEADER_SIZE = 16;
const [MICRO, NANO] = [0xa1b2c3d4, 0xa1b23c4d];
/** Maximum packet size of tcpdump. */
export const LARGEST_PACKET = 262_144;

/** Undefined: it is not the beginning of a capture that we know. */
export function readHeader(bytes: Buffer): CaptureKind | undefined {
  const magics = [bytes.readUInt32LE(0), bytes.readUInt32BE(0)];
  const at = magics.findIndex((magic) => magic === MICRO || magic === NANO);
  if (at === -1) return undefined;
  const littleEndian = at === 0;
  const [short, long] = readers(bytes, littleEndian);
  if (short(4) !== 2 || short(6) !== 4) return undefined;
  return { littleEndian, nanoseconds: magics[at] === NANO, snaplen: long(16), linkType: long(20) };
}

/** The beginning of the file that is made. */
export function headerOf({ nanoseconds, snaplen, linkType }: Omit<CaptureKind, "littleEndian">): Buffer {
  const header = Buffer.alloc(HEADER_SIZE);
  header.writeUInt32LE(nanoseconds ? NANO : MICRO, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(snaplen, 16);
  header.writeUInt32LE(linkType, 20);
  return header;
}

export interface Packets {
  /** Packets in the format of the output file. */
  readonly bytes: Buffer;
  readonly count: number;
}

/**
 * Converts the packets of one capture, from its pieces as they come, to the format of the output file. Returns whole ones
 * only; the beginning of the next one is kept until the rest comes. `broken`: the start of the next packet cannot be found.
 */
export function packetsOf(
  kind: CaptureKind,
  into: { readonly nanoseconds: boolean },
): (piece: Buffer) => Packets | "broken" {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    const all = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const [, long] = readers(all, kind.littleEndian);
    let [end, count] = [0, 0];
    const heads: number[] = [];
    while (all.length - end >= PACKET_HEADER_SIZE) {
      const length = long(end + 8);
      if (length > LARGEST_PACKET) return "broken";
      if (all.length - end < PACKET_HEADER_SIZE + length) break;
      heads.push(end);
      end += PACKET_HEADER_SIZE + length;
      count++;
    }
    // A copy: the piece may belong to another owner.
    const bytes = Buffer.from(all.subarray(0, end));
    for (const head of heads) {
      const [seconds, part, kept, whole] = [long(head), long(head + 4), long(head + 8), long(head + 12)];
      bytes.writeUInt32LE(seconds, head);
      bytes.writeUInt32LE(into.nanoseconds && !kind.nanoseconds ? (part % 1_000_000) * 1000 : part, head + 4);
      bytes.writeUInt32LE(kept, head + 8);
      bytes.writeUInt32LE(whole, head + 12);
    }
    rest = all.subarray(end);
    return { bytes, count };
  };
}

type Reader = (at: number) => number;

const readers = (bytes: Buffer, littleEndian: boolean): readonly [short: Reader, long: Reader] =>
  littleEndian
    ? [(at) => bytes.readUInt16LE(at), (at) => bytes.readUInt32LE(at)]
    : [(at) => bytes.readUInt16BE(at), (at) => bytes.readUInt32BE(at)];
