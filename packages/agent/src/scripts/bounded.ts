/**
 * The beginning and the end of an output, and how much is missing between them. A script that floods its output costs
 * no more memory than one that writes this much.
 */
export interface BoundedOutput {
  add(chunk: Uint8Array): void;
  text(): string;
}

const MIB = 1 << 20;

export function boundedOutput(limit: number): BoundedOutput {
  const headLimit = Math.floor(limit / 4);
  const tailLimit = limit - headLimit;
  const head: Uint8Array[] = [];
  let headSize = 0;
  let tail: Uint8Array[] = [];
  let tailSize = 0;
  let dropped = 0;

  /** Joins what has come in small pieces, and lets go of what is no longer at the end. */
  const compact = () => {
    const whole = Buffer.concat(tail);
    const kept = whole.subarray(Math.max(0, whole.length - tailLimit));
    dropped += whole.length - kept.length;
    // A copy: a part of the old buffer would keep all of it alive.
    tail = [Buffer.from(kept)];
    tailSize = kept.length;
  };

  return {
    add: (chunk) => {
      const forHead = chunk.subarray(0, Math.max(0, headLimit - headSize));
      if (forHead.length > 0) {
        head.push(Buffer.from(forHead));
        headSize += forHead.length;
      }
      const rest = chunk.subarray(forHead.length);
      if (rest.length === 0) return;
      tail.push(Buffer.from(rest));
      tailSize += rest.length;
      if (tailSize > tailLimit + Math.max(tailLimit, MIB) || tail.length > 4096) compact();
    },
    text: () => {
      compact();
      const [first, last] = [Buffer.concat(head), Buffer.concat(tail)];
      if (dropped === 0) return Buffer.concat([first, last]).toString("utf8");
      return `${first.toString("utf8")}\n...[${dropped} bytes left out]...\n${last.toString("utf8")}`;
    },
  };
}

/** The last lines of a text, for an error that people read. */
export function lastLines(text: string, lines = 5, characters = 1000): string {
  const kept = text.trimEnd().split("\n").slice(-lines).join("\n");
  return kept.length > characters ? `...${kept.slice(-characters)}` : kept;
}
