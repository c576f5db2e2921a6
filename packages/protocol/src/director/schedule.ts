/** When something is done again and again: a cron expression, in UTC. Pure. */
export interface Schedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** A day of either kind is enough. Otherwise it must be of both. */
  readonly eitherDay: boolean;
}

/** Stands in place of a schedule: runs only on request. */
export const NEVER = "never";

export type ParsedSchedule =
  | { readonly ok: true; readonly schedule: Schedule }
  | { readonly ok: false; readonly problem: string };

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Words for numbers, from `least` on. */
  readonly words?: readonly string[];
}

const MINUTE: Field = { name: "minute", least: 0, most: 59 };
const HOUR: Field = { name: "hour", least: 0, most: 23 };
const DAY: Field = { name: "day of month", least: 1, most: 31 };
const MONTH: Field = {
  name: "month",
  least: 1,
  most: 12,
  words: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
const WEEKDAY: Field = {
  name: "day of week",
  least: 0,
  most: 7,
  words: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** From one 29 February to the next that is the same day of the week are forty years at most. */
const LONGEST_DAYS = 40 * 366;

class Mistake extends Error {}

/**
 * `minute hour day month weekday`, each `*`, a number, a range `1-5`, with a step `*\/5` or `10-50/10`, or several of them
 * joined by commas; months and weekdays also by their first three letters. As upstream's schedules have it, seconds may
 * stand in front, if they are 0, and `UTC` behind.
 */
export function parseSchedule(text: string): ParsedSchedule {
  try {
    const schedule = read(text);
    if (turnBefore(schedule, AN_INSTANT) === undefined) throw new Mistake("there is no such day");
    return { ok: true, schedule };
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return { ok: false, problem: error.message };
  }
}

/** After a 29 February, so that all days there are lie before it. */
const AN_INSTANT = Date.UTC(2025, 0, 1);

function read(text: string): Schedule {
  const words = text.trim().split(/\s+/);
  const last = words.at(-1) ?? "";
  const isZone =
    words.length > 5 && /^[a-z]/i.test(last) && !WEEKDAY.words?.includes(last.toLowerCase().slice(0, 3));
  const zone = isZone ? words.pop() : "UTC";
  if (zone !== "UTC") throw new Mistake(`times are in UTC, not in ${zone}`);
  const seconds = words.length === 6 ? words.shift() : "0";
  const [minute, hour, day, month, weekday, ...more] = words;
  if (weekday === undefined || more.length > 0)
    throw new Mistake("it must have five fields: minute, hour, day of month, month, day of week");
  if (seconds !== "0") throw new Mistake(`the seconds in front must be 0, not ${seconds}`);
  return {
    minutes: valuesOf(minute ?? "", MINUTE),
    hours: valuesOf(hour ?? "", HOUR),
    days: valuesOf(day ?? "", DAY),
    months: valuesOf(month ?? "", MONTH),
    weekdays: new Set([...valuesOf(weekday, WEEKDAY)].map((one) => one % 7)),
    // As cron has it: a field that begins with `*` restricts together with the other one.
    eitherDay: !day?.startsWith("*") && !weekday.startsWith("*"),
  };
}

function valuesOf(text: string, field: Field): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const [, from, to, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const whole = from === "*";
    if (from === undefined || (whole && to !== undefined)) throw new Mistake(unreadable(part, field));
    if (step !== undefined && !whole && to === undefined) throw new Mistake(unreadable(part, field));
    const first = whole ? field.least : numberOf(from, field);
    const last = whole ? field.most : to === undefined ? first : numberOf(to, field);
    const by = step === undefined ? 1 : Number(step);
    if (last < first) throw new Mistake(`${field.name} ${part} ends before it begins`);
    if (by < 1) throw new Mistake(`${field.name} ${part} has a step of 0`);
    for (let value = first; value <= last; value += by) values.add(value);
  }
  return values;
}

const unreadable = (part: string, { name }: Field): string =>
  `${name} ${JSON.stringify(part)} is none of: *, a number, a range as 1-5, a step as */5 or 10-50/10`;

function numberOf(text: string, field: Field): number {
  const word = field.words?.indexOf(text.toLowerCase()) ?? -1;
  const value = word >= 0 ? word + field.least : /^\d{1,2}$/.test(text) ? Number(text) : -1;
  if (value < field.least || value > field.most)
    throw new Mistake(
      `${field.name} ${JSON.stringify(text)} is not from ${field.least} to ${field.most}${field.words === undefined ? "" : `, or ${field.words[0]} to ${field.words.at(-1)}`}`,
    );
  return value;
}

/** The last turn that is not later than `at`, ms since 1970. Undefined: it never has one. */
export function turnBefore(schedule: Schedule, at: number): number | undefined {
  const today = Math.floor(at / DAY_MS) * DAY_MS;
  for (let back = 0; back < LONGEST_DAYS; back += 1) {
    const midnight = today - back * DAY_MS;
    if (!hasDay(schedule, midnight)) continue;
    const minutes = back === 0 ? Math.floor((at - today) / MINUTE_MS) : 24 * 60 - 1;
    const found = lastOf(schedule, minutes);
    if (found !== undefined) return midnight + found * MINUTE_MS;
  }
  return undefined;
}

function hasDay({ days, months, weekdays, eitherDay }: Schedule, midnight: number): boolean {
  const date = new Date(midnight);
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const day = days.has(date.getUTCDate());
  const weekday = weekdays.has(date.getUTCDay());
  return eitherDay ? day || weekday : day && weekday;
}

/** The last minute of a day up to this one. */
function lastOf({ hours, minutes }: Schedule, upTo: number): number | undefined {
  for (let hour = Math.floor(upTo / 60); hour >= 0; hour -= 1) {
    if (!hours.has(hour)) continue;
    const most = hour === Math.floor(upTo / 60) ? upTo % 60 : 59;
    for (let minute = most; minute >= 0; minute -= 1) if (minutes.has(minute)) return hour * 60 + minute;
  }
  return undefined;
}
