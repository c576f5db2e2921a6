const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Formats a time as upstream does: `Mon Nov 16 02:59:02 UTC 2026`. */
export function dateText(seconds: number): string {
  const date = new Date(seconds * 1000);
  const day = String(date.getUTCDate()).padStart(2, " ");
  const time = date.toISOString().slice(11, 19);
  return `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${day} ${time} UTC ${date.getUTCFullYear()}`;
}

/**
 * Formats the Director's written times, `2026-11-16 02:59:02 UTC` or RFC 3339, in the same form; empty for a missing or
 * invalid time.
 */
export function timeText(time: string | null | undefined): string {
  const [, day, clock, zone] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?) ?(Z|UTC|[+-]\d\d:?\d\d)$/.exec(time ?? "") ?? [];
  if (day === undefined) return "";
  const at = Date.parse(`${day}T${clock}${zone === "UTC" ? "Z" : zone}`);
  return Number.isNaN(at) ? "" : dateText(at / 1000);
}

/** `hh:mm:ss` */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

/** `1.2 s` */
export const secondsText = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** A moment of this machine, in its own time: `2026-11-16 02:59:02`. */
export function localTimeText(ms: number): string {
  const at = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** How long, at a glance: `12s`, `4m`, `2h 5m`, `3d 4h`. */
export function spanText(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s}s`;
  const m = Math.floor(s / 60);
  if (m < 60) return m < 10 ? `${m}m ${s % 60}s` : `${m}m`;
  const h = Math.floor(m / 60);
  return h < 24 ? `${h}h ${m % 60}m` : `${Math.floor(h / 24)}d ${h % 24}h`;
}

/** The time of day: `02:59:02`, in UTC as everything that a Director writes. */
export const clockText = (ms: number): string => new Date(ms).toISOString().slice(11, 19);
