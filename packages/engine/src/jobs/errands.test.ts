import { describe, expect, it } from "vitest";
import { chooseErrand, type ErrandGroup, errandNames, fitsFilter } from "./errands.ts";

const runs = ({ name, release }: { name: string; release: string }) => release === "r" && name !== "web";
const job = (name: string, release = "r") => ({ name, release });
const group = (
  name: string,
  lifecycle: "service" | "errand",
  ...jobs: readonly { name: string; release: string }[]
): ErrandGroup => ({ name, lifecycle, jobs });

const GROUPS = [
  group("web", "service", job("web"), job("smoke")),
  group("db", "service", job("smoke"), job("backup", "other")),
  group("tests", "errand", job("web"), job("accept")),
  group("accept", "errand", job("accept")),
];

describe("errands of a deployment", () => {
  it("are groups that are errands and jobs that run as one, each once", () => {
    expect(errandNames(GROUPS, runs)).toEqual(["accept", "smoke", "tests"]);
  });

  it("named by a job run in every group that has it", () => {
    expect(chooseErrand("smoke", GROUPS, runs)).toEqual({
      by: "job",
      groups: GROUPS.slice(0, 2),
      ambiguous: false,
    });
  });

  it("named by a group run there", () => {
    expect(chooseErrand("tests", GROUPS, runs)).toEqual({
      by: "group",
      groups: [GROUPS[2]],
      ambiguous: false,
    });
  });

  it("prefers the job if both have the name, and reports the ambiguity", () => {
    expect(chooseErrand("accept", GROUPS, runs)).toMatchObject({ by: "job", ambiguous: true });
  });

  it("distinguishes a missing name from a group that is no errand", () => {
    expect(chooseErrand("backup", GROUPS, runs)).toBe("missing");
    expect(chooseErrand("db", GROUPS, runs)).toBe("no-errand");
  });
});

describe("an instance that is asked for", () => {
  const all = [
    { group: "web", uuid: "b", index: 0 },
    { group: "web", uuid: "a", index: 1 },
    { group: "db", uuid: "0", index: 0 },
  ];
  const fitting = (filter: { group: string; id?: string }) =>
    all.filter((one) => fitsFilter(filter, one, all)).map(({ group: of, uuid }) => `${of}/${uuid}`);

  it.each([
    [{ group: "web" }, ["web/b", "web/a"]],
    [{ group: "web", id: "" }, ["web/b", "web/a"]],
    [{ group: "web", id: "1" }, ["web/a"]],
    [{ group: "web", id: "b" }, ["web/b"]],
    [{ group: "web", id: "first" }, ["web/a"]],
    [{ group: "web", id: "7" }, []],
    [{ group: "nobody" }, []],
  ])("%j is %j", (filter, expected) => {
    expect(fitting(filter)).toEqual(expected);
  });
});
