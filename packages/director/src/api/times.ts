/** All of them take milliseconds since 1970. */

/** `2025-11-15 19:00:00 UTC`, one of the few forms the CLI reads. */
export const utc = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** `2025-11-15T19:00:00Z` */
export const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

export const seconds = (ms: number): number => Math.floor(ms / 1000);
