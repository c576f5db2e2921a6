import type { CpiName } from "../home/choice.ts";
import { BadRange } from "./errors.ts";

const LOOPBACK = { takes: "addresses of loopback", example: "127.21.0.0/24" } as const;
const PRIVATE = { takes: "24 bits of a private network", example: "10.246.0.0/24" } as const;

/** Which addresses VMs can have. */
const RANGES: Readonly<Record<CpiName, { takes: string; example: string; fits: RegExp }>> = {
  local: { ...LOOPBACK, fits: /^127\./ },
  docker: { ...PRIVATE, fits: /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/ },
};

export function rangeOf(given: string, cpi: CpiName): string {
  const { fits, takes, example } = RANGES[cpi];
  const numbers = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.0\/24$/.exec(given)?.slice(1) ?? [];
  const whole =
    numbers.length === 3 && numbers.every((one) => String(Number(one)) === one && Number(one) < 256);
  if (!whole || !fits.test(given)) throw BadRange({ given, takes, example });
  return given;
}
