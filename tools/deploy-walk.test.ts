import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const { readPage, walkProblems } = (await import(new URL("./deploy-walk.mjs", import.meta.url).href)) as {
  readPage(text: string): {
    readonly walks: readonly { readonly title: string; readonly files: readonly string[] }[];
    readonly details: readonly string[];
  };
  walkProblems(text: string): readonly string[];
};

const page = readFileSync("docs/how-a-deploy-runs.md", "utf8");
const { walks, details } = readPage(page);

/** The page without the nth line that fits, and with the count of its list corrected. */
function without(file: string, title: string): string {
  const parts = page.split(/^(?=## )/m);
  return parts
    .map((part) => {
      if (!part.startsWith(`## ${title}:`)) return part;
      const rest = part.split("\n").filter((line) => !line.includes(`\`${file}\``));
      return rest.join("\n").replace(/: (\d+) files/, (_, count: string) => `: ${Number(count) - 1} files`);
    })
    .join("");
}

const withLine = (line: string): string =>
  page
    .replace(/^### In the VM$/m, `99. [\`${line}\`](../packages/${line}): planted.\n\n### In the VM`)
    .replace(/: (\d+) files/, (_, count: string) => `: ${Number(count) + 1} files`);

describe("docs/how-a-deploy-runs.md", () => {
  it("lists every file between the endpoint, the CPI process and the agent's action", () => {
    expect(walkProblems(page)).toEqual([]);
  });

  it("has at most 45 files for a deploy and 22 for attaching a disk", () => {
    expect(walks.map(({ title }) => title)).toEqual(["A deploy", "Attaching a disk"]);
    expect(walks[0]?.files.length).toBeLessThanOrEqual(45);
    expect(walks[1]?.files.length).toBeLessThanOrEqual(22);
  });

  it.each(walks.flatMap(({ title, files }) => files.map((file) => [file, title] as const)))(
    "misses %s if it is not in the list of '%s'",
    (file, title) => {
      expect(walkProblems(without(file, title)).join("\n")).toContain(file);
    },
  );

  it("refuses a file that nothing in the list imports", () => {
    expect(walkProblems(withLine("director/src/backup/back-up.ts"))).toContain(
      "A deploy: no file of the list and no table imports director/src/backup/back-up.ts",
    );
  });

  it("refuses a file that does not exist", () => {
    expect(walkProblems(withLine("director/src/gone.ts"))).toContain("director/src/gone.ts does not exist");
  });

  it("refuses a wrong number in a heading", () => {
    expect(walkProblems(page.replace(/: (\d+) files/, ": 7 files"))[0]).toMatch(
      /^A deploy: the heading says 7 files/,
    );
  });

  it("refuses a detail that no listed file imports", () => {
    expect(walkProblems(`${page}- \`director/src/uaa/*.ts\`: planted\n`)).toEqual([
      "no listed file imports director/src/uaa/*.ts",
    ]);
    expect(details.length).toBeLessThan(45);
  });
});
