import { describe, expect, it } from "vitest";
import { fits, joined, rowsOf } from "./instances.ts";
import { agoText, durationText, mebibytesText, timeOf } from "./texts.ts";

const recorded = (job: string, index: number, az: string) => ({
  ...{ job, index, az, id: `${job}-${index}`, cid: `vm-${job}-${index}`, ips: [`10.0.0.${index}`] },
});

describe("instances of a deployment", () => {
  const all = joined([recorded("web", 10, "z1"), recorded("web", 2, "z1"), recorded("db", 0, "z2")]);

  it("are listed by group and zone, in the order of their indexes", () => {
    const texts = rowsOf(all).map((row) =>
      row.kind === "heading" ? row.text : `${row.instance.group}/${row.instance.index}`,
    );
    expect(texts).toEqual(["db in z2", "db/0", "web in z1", "web/2", "web/10"]);
  });

  it("are found by any of their names, by all words", () => {
    const found = (search: string) => all.filter((one) => fits(one, search)).map(({ id }) => id);
    expect(found("vm-db")).toEqual(["db-0"]);
    expect(found("WEB z1 10.0.0.2")).toEqual(["web-2"]);
    expect(found("")).toHaveLength(3);
  });
});

describe("texts", () => {
  it("have durations, ages and sizes as people read them", () => {
    expect([0, 250, 4200, 62_000, 7_260_000, 200_000_000].map(durationText)).toEqual([
      ...["0 ms", "250 ms", "4.2 s", "1 min 2 s", "2 h 1 min", "2 days"],
    ]);
    expect([agoText(0, 500), agoText(0, 14_000)]).toEqual(["now", "14 s ago"]);
    expect([512, 1024, 1536].map(mebibytesText)).toEqual(["512 MiB", "1 GiB", "1.5 GiB"]);
  });

  it("take both forms of times that the API has, and no others", () => {
    const noon = Date.parse("2026-01-31T12:00:00Z");
    expect(timeOf("2026-01-31T12:00:00Z")).toBe(noon);
    expect(timeOf("2026-01-31 12:00:00 UTC")).toBe(noon);
    expect([timeOf(null), timeOf(""), timeOf("soon")]).toEqual([undefined, undefined, undefined]);
  });
});
