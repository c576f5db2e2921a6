import { appendFileSync } from "node:fs";

/** Says how many inputs a family of attacks has tried, and adds it to the total that the run ends with. */
export function tellTried(family: string, count: number): void {
  process.stdout.write(`hostile: ${count} inputs tried (${family})\n`);
  const total = process.env.SLIPWAY_HOSTILE_TOTAL;
  if (total !== undefined) appendFileSync(total, `${count}\n`);
}
