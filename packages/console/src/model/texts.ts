/** Returns a number of things: `1 instance`, `2 instances`. */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** Returns a duration as people read it: `0.2 s`, `14 s`, `3 min 5 s`, `2 h 10 min`. */
export function durationText(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 1) return `${Math.max(0, Math.round(ms))} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} days`;
}

/** Returns the age of a moment: `3 min ago`. */
export const agoText = (at: number, now: number): string =>
  now - at < 1000 ? "now" : `${durationText(now - at)} ago`;

/** Returns a size in MiB as people read it. */
export const mebibytesText = (mib: number): string =>
  mib < 1024 ? `${mib} MiB` : `${(mib / 1024).toFixed(mib % 1024 === 0 ? 0 : 1)} GiB`;

/** Returns a word of the API for people: `no_vm` is `no vm`. */
export const wordsOf = (name: string): string => name.replaceAll("_", " ");

/** Reads a time of the API: `2026-01-31T12:00:00Z`, or `2026-01-31 12:00:00 UTC`. */
export function timeOf(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text === "") return undefined;
  const at = Date.parse(text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC$/, "$1T$2Z"));
  return Number.isNaN(at) ? undefined : at;
}

/** Quotes a word for a shell, if it has to be. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
