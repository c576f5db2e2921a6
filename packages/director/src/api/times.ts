/** Formats of times, which are milliseconds since 1970. */

/** `2025-11-15 19:00:00 UTC`, one of the few forms the CLI reads. */
export const utc = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** `2025-11-15T19:00:00Z` */
export const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

export const seconds = (ms: number): number => Math.floor(ms / 1000);

/** Seconds since 1970, or a date as people write it. Undefined: it is neither. */
export function readTime(text: string): number | undefined {
  const time = new Date(/^\d{1,12}$/.test(text) ? Number(text) * 1000 : text).getTime();
  return Number.isNaN(time) ? undefined : time;
}

/** Description of the expected value, for error messages. */
export const A_TIME = "a time, as 2026-01-31 12:00:00 UTC or in seconds since 1970";
