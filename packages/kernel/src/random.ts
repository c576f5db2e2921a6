/** Chance is passed in, so that a run can be repeated. */
export interface Random {
  uuid(): string;
  /** `bytes` random bytes as hex. */
  hex(bytes: number): string;
  /** From 0 up to, not including, 1. */
  fraction(): number;
}

/** The global `crypto` costs nothing until it is used; importing the module would cost every CPI process its load. */
export const systemRandom: Random = {
  uuid: () => crypto.randomUUID(),
  hex: (bytes) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex"),
  fraction: () => Math.random(),
};
