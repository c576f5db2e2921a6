const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** As upstream writes times: `Mon Nov 16 02:59:02 UTC 2026`. */
export function dateText(seconds: number): string {
  const date = new Date(seconds * 1000);
  const day = String(date.getUTCDate()).padStart(2, " ");
  const time = date.toISOString().slice(11, 19);
  return `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${day} ${time} UTC ${date.getUTCFullYear()}`;
}

/** The Director's written times, `2026-11-16 02:59:02 UTC` or RFC 3339, in the same form; nothing where there is none. */
export function timeText(time: string | null | undefined): string {
  const [, day, clock, zone] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?) ?(Z|UTC|[+-]\d\d:?\d\d)$/.exec(time ?? "") ?? [];
  if (day === undefined) return "";
  const at = Date.parse(`${day}T${clock}${zone === "UTC" ? "Z" : zone}`);
  return Number.isNaN(at) ? "" : dateText(at / 1000);
}
