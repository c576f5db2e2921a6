/** A capture as tcpdump writes it, on a machine of either kind. */
export function captureBytes(
  packets: readonly (readonly [seconds: number, part: number, content: string])[],
  {
    littleEndian = true,
    nanoseconds = false,
    snaplen = 65_535,
    linkType = 1,
  }: {
    readonly littleEndian?: boolean;
    readonly nanoseconds?: boolean;
    readonly snaplen?: number;
    readonly linkType?: number;
  } = {},
): Buffer {
  const longs = (...values: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [at, value] of values.entries())
      if (littleEndian) bytes.writeUInt32LE(value, 4 * at);
      else bytes.writeUInt32BE(value, 4 * at);
    return bytes;
  };
  const version = Buffer.from(littleEndian ? [2, 0, 4, 0] : [0, 2, 0, 4]);
  return Buffer.concat([
    longs(nanoseconds ? 0xa1b23c4d : 0xa1b2c3d4),
    version,
    longs(0, 0, snaplen, linkType),
    ...packets.flatMap(([seconds, part, content]) => [
      longs(seconds, part, content.length, content.length + 100),
      Buffer.from(content),
    ]),
  ]);
}
