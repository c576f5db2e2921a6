/** Takes bytes off pieces of any size. */
export class Pieces {
  readonly #from: AsyncIterator<Uint8Array>;
  readonly #cutOff: () => Error;
  #piece: Buffer = Buffer.alloc(0);
  /** How many bytes `rest` passes on. */
  left = 0;

  constructor(from: AsyncIterable<Uint8Array>, cutOff: () => Error) {
    this.#from = from[Symbol.asyncIterator]();
    this.#cutOff = cutOff;
  }

  async ended(): Promise<boolean> {
    return this.#piece.length === 0 && !(await this.#more());
  }

  async take(size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    this.left = size;
    for await (const part of this.rest()) parts.push(part);
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  /** All that is left, also of what somebody has begun to read. */
  async *rest(): AsyncGenerator<Buffer> {
    while (this.left > 0) {
      if (await this.ended()) throw this.#cutOff();
      const part = this.#piece.subarray(0, this.left);
      this.#piece = this.#piece.subarray(part.length);
      this.left -= part.length;
      yield part;
    }
  }

  async drain(): Promise<void> {
    while (await this.#more());
  }

  /** Ends reading, so that the source may close. */
  async close(): Promise<void> {
    await this.#from.return?.();
  }

  async #more(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#from.next();
      if (done) return false;
      this.#piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      if (this.#piece.length > 0) return true;
    }
  }
}
