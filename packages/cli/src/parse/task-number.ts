import { BadArgument } from "./errors.ts";

export function taskNumber(given: string): number {
  if (!/^[1-9]\d{0,15}$/.test(given)) throw BadArgument({ given, what: "the number of a task" });
  return Number(given);
}
