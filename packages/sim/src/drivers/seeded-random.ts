import { createHash } from "node:crypto";
import type { Random } from "@slipway/kernel/random";

/** Chance that a seed repeats. */
export function seededRandom(seed: string): Random {
  let count = 0;
  const hex = (bytes: number): string => {
    let text = "";
    while (text.length < bytes * 2) {
      count += 1;
      text += createHash("sha256").update(`${seed} ${count}`).digest("hex");
    }
    return text.slice(0, bytes * 2);
  };
  return {
    hex,
    uuid: () => hex(16).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5"),
    fraction: () => Number.parseInt(hex(6), 16) / 2 ** 48,
  };
}
