import { randomBytes, randomUUID } from "node:crypto";

/** Chance is passed in, so that a run can be repeated. */
export interface Random {
  uuid(): string;
  /** `bytes` random bytes as hex. */
  hex(bytes: number): string;
  /** From 0 up to, not including, 1. */
  fraction(): number;
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  hex: (bytes) => randomBytes(bytes).toString("hex"),
  fraction: () => Math.random(),
};
