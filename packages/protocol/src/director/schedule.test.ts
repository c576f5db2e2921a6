import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSchedule, type Schedule, turnBefore } from "./schedule.ts";

const MINUTE_MS = 60_000;

function scheduleOf(text: string): Schedule {
  const parsed = parseSchedule(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.problem}`);
  return parsed.schedule;
}
const before = (text: string, at: string): string =>
  new Date(turnBefore(scheduleOf(text), Date.parse(at)) ?? Number.NaN).toISOString();
const problemOf = (text: string): string => {
  const parsed = parseSchedule(text);
  return parsed.ok ? "" : parsed.problem;
};

/** A part of a field: as it is written, and which values it means. */
interface Part {
  readonly text: string;
  readonly means: (value: number) => boolean;
}
const partOf = (least: number, most: number): fc.Arbitrary<Part> =>
  fc.oneof(
    fc.constant({ text: "*", means: () => true }),
    fc.integer({ min: 1, max: 9 }).map((by) => ({
      text: `*/${by}`,
      means: (value: number) => (value - least) % by === 0,
    })),
    fc.integer({ min: least, max: most }).map((one) => ({
      text: `${one}`,
      means: (value: number) => value === one,
    })),
    fc
      .tuple(fc.integer({ min: least, max: most }), fc.integer({ min: least, max: most }), fc.nat(4))
      .map(([one, other, step]) => {
        const [from, to, by] = [Math.min(one, other), Math.max(one, other), step + 1];
        return {
          text: `${from}-${to}/${by}`,
          means: (value: number) => value >= from && value <= to && (value - from) % by === 0,
        };
      }),
  );
const fieldOf = (least: number, most: number): fc.Arbitrary<Part> =>
  fc.array(partOf(least, most), { minLength: 1, maxLength: 3 }).map((parts) => ({
    text: parts.map(({ text }) => text).join(","),
    means: (value) => parts.some(({ means }) => means(value)),
  }));

const expression = fc
  .tuple(fieldOf(0, 59), fieldOf(0, 23), fieldOf(1, 28), fieldOf(1, 12), fieldOf(0, 6))
  .map(([minute, hour, day, month, weekday]) => ({
    text: [minute, hour, day, month, weekday].map(({ text }) => text).join(" "),
    means: (at: number) => {
      const date = new Date(at);
      const days = [day.means(date.getUTCDate()), weekday.means(date.getUTCDay())];
      const either = !day.text.startsWith("*") && !weekday.text.startsWith("*");
      return (
        minute.means(date.getUTCMinutes()) &&
        hour.means(date.getUTCHours()) &&
        month.means(date.getUTCMonth() + 1) &&
        (either ? days.some(Boolean) : days.every(Boolean))
      );
    },
  }));
const instant = fc.integer({ min: Date.UTC(1999, 0), max: Date.UTC(2101, 0) });

describe("a schedule", () => {
  it("has its last turn at the last minute that the expression means, whatever it is", () => {
    fc.assert(
      fc.property(
        expression,
        instant,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        (one, at, some) => {
          const turn = turnBefore(scheduleOf(one.text), at) ?? Number.NaN;
          expect(one.means(turn)).toBe(true);
          expect(turn % MINUTE_MS).toBe(0);
          expect(turn).toBeLessThanOrEqual(at);
          // None between it and now: all minutes of a day, and some of those before.
          const between = Math.floor(at / MINUTE_MS) - turn / MINUTE_MS;
          const looked = [
            ...Array.from({ length: Math.min(between, 1440) }, (_, back) => back),
            ...some.map((share) => Math.floor(share * between)),
          ].filter((back) => back < between);
          const missed = looked.find((back) => one.means((Math.floor(at / MINUTE_MS) - back) * MINUTE_MS));
          expect(missed).toBe(undefined);
        },
      ),
      { numRuns: tries(400) },
    );
  });

  it.each([
    // The defaults of upstream's director job.
    ["0 0 7 * * * UTC", "2026-11-17T06:59:59Z", "2026-11-16T07:00:00.000Z"],
    ["0 0,30 * * * * UTC", "2026-11-17T06:29:00Z", "2026-11-17T06:00:00.000Z"],
    ["*/5 * * * * UTC", "2026-11-17T06:04:59Z", "2026-11-17T06:00:00.000Z"],
    ["0 0 0 */7 * * UTC", "2026-11-28T00:00:00Z", "2026-11-22T00:00:00.000Z"],
    ["0 7 * * *", "2026-11-17T07:00:00Z", "2026-11-17T07:00:00.000Z"],
    ["30 3 * * sun", "2026-11-17T12:00:00Z", "2026-11-15T03:30:00.000Z"],
    ["30 3 * * 7", "2026-11-17T12:00:00Z", "2026-11-15T03:30:00.000Z"],
    ["0 0 1,15 * mon", "2026-11-17T12:00:00Z", "2026-11-16T00:00:00.000Z"],
    ["0 0 29 feb *", "2103-11-17T12:00:00Z", "2096-02-29T00:00:00.000Z"],
    // Where one of the two days begins with a star, both must be.
    ["0 0 26 4 */7", "2015-04-25T12:00:00Z", "2009-04-26T00:00:00.000Z"],
    ["0 0 29 feb */7", "2128-02-28T12:00:00Z", "2088-02-29T00:00:00.000Z"],
    ["0 0 7 * * mon", "2026-11-17T06:59:59Z", "2026-11-16T07:00:00.000Z"],
    ["0 0 7 * * mon-fri UTC", "2026-11-15T12:00:00Z", "2026-11-13T07:00:00.000Z"],
    ["59 23 31 DEC *", "2026-01-01T00:00:00Z", "2025-12-31T23:59:00.000Z"],
    ["0 0 * * mon-fri", "2026-11-15T12:00:00Z", "2026-11-13T00:00:00.000Z"],
  ])("%s at %s had its turn at %s", (text, at, turn) => expect(before(text, at)).toBe(turn));

  it.each([
    ["", "five fields"],
    ["* * * *", "five fields"],
    ["* * * * * * *", "five fields"],
    ["@daily", "five fields"],
    ["60 * * * *", 'minute "60" is not from 0 to 59'],
    ["* 24 * * *", 'hour "24"'],
    ["* * 0 * *", 'day of month "0"'],
    ["* * * 13 *", 'month "13" is not from 1 to 12, or jan to dec'],
    ["* * * * 8", 'day of week "8"'],
    ["* * * * monday", 'day of week "monday"'],
    ["5-1 * * * *", "ends before it begins"],
    ["*/0 * * * *", "step of 0"],
    ["5/10 * * * *", "is none of"],
    ["*-5 * * * *", "is none of"],
    ["1,, * * * *", "is none of"],
    ["-1 * * * *", "is none of"],
    ["1.5 * * * *", "is none of"],
    ["30 0 7 * * * UTC", "seconds in front must be 0, not 30"],
    ["0 0 7 * * * Europe/Berlin", "times are in UTC, not in Europe/Berlin"],
    ["0 0 30 2 *", "there is no such day"],
    ["0 0 31 4,6,9,11 *", "there is no such day"],
  ])("is refused with what is wrong: %j", (text, problem) => expect(problemOf(text)).toContain(problem));

  it("is read or refused, never anything else", () => {
    const scrap = fc.string({ unit: fc.constantFrom(..."0123456789*/-, aUTC") });
    fc.assert(
      fc.property(scrap, (text) => typeof parseSchedule(text).ok === "boolean"),
      { numRuns: tries(1000) },
    );
  });
});
