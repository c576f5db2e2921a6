import type { Home } from "../home/home.ts";
import type { Reach } from "./running.ts";

/** The two lines that point the `bosh` CLI at a home's Director. */
export function pointers(home: Home, credentials = true): readonly string[] {
  return [
    "Point the bosh CLI at it:",
    "",
    `  . ${shellWord(home.envFile)}`,
    "  bosh env",
    ...(credentials ? [] : ["", "Its users are those of the configuration: `bosh log-in`."]),
    "",
  ];
}

export const shellWord = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

export const listensAt = (reach: Reach, home: Home): string =>
  `The Director listens at ${reach.url}. State: ${home.dir}`;

/** Local time to the second. */
export function timeText(ms: number): string {
  const at = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
