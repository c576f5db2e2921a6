/** The last part of a text that is too long, in whole lines where it has any. */
export class Tail {
  readonly #most: number;
  readonly #parts: { readonly text: string; readonly size: number }[] = [];
  #kept = 0;
  #all = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(text: string): void {
    const size = Buffer.byteLength(text);
    this.#parts.push({ text, size });
    this.#kept += size;
    this.#all += size;
    // Parts that the end does not reach into any more.
    while (this.#kept - (this.#parts[0]?.size ?? this.#kept) >= this.#most)
      this.#kept -= this.#parts.shift()?.size ?? 0;
  }

  /** Returns the end, of at most the agreed size, and how many bytes came before it. */
  taken(): { readonly text: string; readonly dropped: number } {
    const data = Buffer.from(this.#parts.map(({ text }) => text).join(""));
    if (data.length <= this.#most && this.#kept === this.#all) return { text: data.toString(), dropped: 0 };
    let start = Math.max(0, data.length - this.#most);
    while (start < data.length && ((data[start] ?? 0) & 0xc0) === 0x80) start += 1;
    const line = data.indexOf("\n", Math.max(0, start - 1));
    const last = data.subarray(line >= 0 && line + 1 < data.length ? Math.max(start, line + 1) : start);
    return { text: last.toString(), dropped: this.#all - last.length };
  }
}
