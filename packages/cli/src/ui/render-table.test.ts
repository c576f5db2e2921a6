import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderTable, withColumns } from "./render-table.ts";
import { widthOf } from "./text.ts";
import type { Table } from "./ui.ts";

const table: Table = {
  content: "deployments",
  header: { name: "Name", release_s: "Release(s)", team_s: "Team(s)" },
  rows: [
    ["shop", "a/1\nb/22", ""],
    ["long-name", "", "ops"],
  ],
  notes: ["(*) Currently deployed"],
};

const terminal = (columns: number) => ({ kind: "terminal", columns }) as const;

it("a single thing keeps its titles in a pipe if the table says so, unless columns are asked for", () => {
  const one: Table = {
    content: "",
    transpose: true,
    labeled: true,
    header: { director: "Director", process: "Process" },
    rows: [["running", "12"]],
  };
  const pipe = { kind: "pipe", columns: 80 } as const;
  expect(renderTable(one, pipe)).toBe("Director\trunning\t\nProcess \t12\t\n");
  expect(renderTable(withColumns(one, ["process"]), pipe)).toBe("12\t\n");
});

it("a footer names one row and several in words of their own", () => {
  const health = { ...table, rowNames: ["instance", "instances"] } as const;
  expect(renderTable(health, terminal(80))).toContain("\n2 instances\n");
  expect(renderTable({ ...health, count: 1 }, terminal(80))).toContain("\n1 instance\n");
});

describe("a table on a terminal", () => {
  it("is aligned, has a dash for nothing, its notes and its number", () => {
    expect(renderTable(table, terminal(80))).toBe(
      [
        "Name       Release(s)  Team(s)  ",
        "shop       a/1         -  ",
        "           b/22          ",
        "long-name  -           ops  ",
        "",
        "(*) Currently deployed",
        "",
        "2 deployments",
        "",
      ].join("\n"),
    );
  });

  it("is printed row by row if it is too wide, with nothing cut off", () => {
    expect(renderTable(table, terminal(28))).toBe(
      [
        "Name        shop  ",
        "Release(s)  a/1  ",
        "            b/22  ",
        "Team(s)     -  ",
        "",
        "Name        long-name  ",
        "Release(s)  -  ",
        "Team(s)     ops  ",
        "",
        "(*) Currently deployed",
        "",
        "2 deployments",
        "",
      ].join("\n"),
    );
  });

  it("stays a table at exactly its width", () => {
    const width = "Name       Release(s)  Team(s)".length;
    expect(renderTable(table, terminal(width))).toContain("Name       Release(s)  Team(s)");
    expect(renderTable(table, terminal(width - 1))).not.toContain("Name       Release(s)");
  });

  it("does not say again what stands above in its first column", () => {
    const rows = [
      ["a", "1"],
      ["a", "2"],
      ["b", "2"],
    ];
    expect(renderTable({ content: "things", header: { x: "X", y: "Y" }, rows, count: 2 }, terminal(80))).toBe(
      "X  Y  \na  1  \n~  2  \nb  2  \n\n2 things\n",
    );
  });

  it("prints no count if there is none", () => {
    expect(renderTable({ ...table, notes: [], count: null }, terminal(80))).not.toContain("deployments");
  });

  it("without rows still shows its titles", () => {
    expect(renderTable({ ...table, rows: [], notes: [] }, terminal(80))).toBe(
      "Name  Release(s)  Team(s)  \n\n0 deployments\n",
    );
  });

  it("aligns wide letters, and colours take no room", () => {
    const rows = [
      ["日本", "x"],
      ["\u001b[31mab\u001b[39m", "y"],
    ];
    expect(renderTable({ content: "", header: { a: "A", b: "B" }, rows }, terminal(80))).toBe(
      "A     B  \n日本  x  \n\u001b[31mab\u001b[39m    y  \n",
    );
  });

  it("does not obey what is in its cells", () => {
    const rows = [["\u001b]0;title\u0007\u001b[2J", "\r"]];
    const text = renderTable({ content: "", header: { a: "A", b: "B" }, rows }, terminal(80));
    expect(text).toContain("\\x1b]0;title\\x07\\x1b[2J  \\x0d");
  });
});

describe("a table in a pipe", () => {
  it("is its rows alone, each cell followed by a tab", () => {
    expect(renderTable(table, { kind: "pipe", columns: 10 })).toBe(
      "shop     \ta/1 \t-\t\n         \tb/22\t\t\nlong-name\t-   \tops\t\n",
    );
  });

  it("is not padded if upstream has no such table", () => {
    expect(renderTable({ ...table, unpadded: true }, { kind: "pipe", columns: 10 })).toBe(
      "shop\ta/1\t-\t\n\tb/22\t\t\nlong-name\t-\tops\t\n",
    );
  });

  it("transposed is its values alone", () => {
    const one = { ...table, rows: [["shop", "a/1\nb/2", ""]], transpose: true };
    expect(renderTable(one, { kind: "pipe", columns: 10 })).toBe("shop\t\na/1\t\nb/2\t\n-\t\n");
  });
});

describe("chosen columns", () => {
  it("are found by title and by key, and stay in the table's order", () => {
    const chosen = withColumns(table, ["Team(s)", "name"]);
    expect(chosen.header).toEqual({ name: "Name", team_s: "Team(s)" });
    expect(chosen.rows).toEqual([
      ["shop", ""],
      ["long-name", "ops"],
    ]);
  });

  it("are refused with a list of the columns that exist", () => {
    expect(() => withColumns(table, ["nope"])).toThrow("it has name, release_s, team_s");
  });
});

it("holds every cell at any width, no line wider than a table that fits", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", "b", "日", "é"), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell, cell), { maxLength: 5 }),
      fc.integer({ min: 1, max: 60 }),
      (rows, columns) => {
        const text = renderTable(
          { content: "", header: { x: "X", y: "Y", z: "Z" }, rows },
          terminal(columns),
        );
        for (const one of rows.flat()) expect(text).toContain(one);
        const lines = text.split("\n");
        if (rows.length > 0 && lines[0]?.includes("Y"))
          for (const one of lines) expect(widthOf(one.trimEnd())).toBeLessThanOrEqual(columns);
      },
    ),
  );
});
