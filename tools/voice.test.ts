import { describe, expect, it } from "vitest";

const { judge, privateNamesIn, problemsIn } = (await import(
  new URL("./voice.mjs", import.meta.url).href
)) as {
  problemsIn(source: string, isTest: boolean): readonly string[];
  privateNamesIn(file: string, source: string): readonly string[];
  judge(counts: Record<string, number>, limits: Record<string, number>): readonly string[];
};

describe("the voice lint", () => {
  it.each([
    "/** Whose it was. */",
    "  /** What cannot be found out is given up. */",
    "/**\n * Of problems of disks.\n */",
    "  /** Whether it is there. */",
  ])("finds the fragment %j", (comment) => {
    expect(problemsIn(`const a = 1;\n${comment}\nconst b = 2;\n`, false)).toHaveLength(1);
  });

  it.each([
    "/** Instance the disk belonged to. */",
    "/** Returns the disks to detach. */",
    "// What follows",
  ])("accepts %j", (comment) => {
    expect(problemsIn(`${comment}\n`, false)).toEqual([]);
  });

  it("finds test titles that do not stand alone, and names their line", () => {
    const source =
      '\nit("rejects an empty id", () => {});\n  it("that is missing is not waited for", () => {});\n';
    expect(problemsIn(source, true)).toEqual(["3: that is missing is not waited for"]);
    expect(problemsIn(source, false)).toEqual([]);
  });

  it("lets no package have more than before, and has fewer written down", () => {
    expect(judge({ kernel: 3 }, { kernel: 3 })).toEqual([]);
    expect(judge({ kernel: 4 }, { kernel: 3 })).toEqual([expect.stringContaining("1 more than before")]);
    expect(judge({ kernel: 2 }, { kernel: 3 })).toEqual([expect.stringContaining("--write")]);
    expect(judge({ console: 1 }, {})).toHaveLength(1);
  });

  it("finds private words in names of files and exports", () => {
    expect(privateNamesIn("packages/x/src/told.ts", "const seeing = 1;\n")).toEqual(["told"]);
    const source =
      "export const openSeeing = 1;\nexport function bringJobs() {}\nexport interface NatsWay {}\n";
    expect(privateNamesIn("packages/x/src/by-itself.test.ts", source)).toEqual([
      "by-itself.test",
      "openSeeing",
      "bringJobs",
      "NatsWay",
    ]);
  });

  it("accepts names that only contain the letters of a private word", () => {
    const source = "export const gateway = 1;\nexport class Bellows {}\nexport type Always = 1;\n";
    expect(privateNamesIn("packages/x/src/earliest.ts", source)).toEqual([]);
  });
});
