import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** Words by which a page says that something is not there, or does nothing. */
const DENIES = /\bstill to come\b|\bnot there yet\b|\bhas no effect\b|\bthat `slipway` has so far\b/i;

/** Statements that name a feature and are true, each with what is missing. */
const TRUE_STATEMENTS = [
  // A Director has no way to share a state directory's blobs and keys with another.
  /Several Directors are still to come|several on one database are still to come|^Several Directors\./,
  // `stemcell build` makes them for the local and the Docker CPI.
  /^Stemcells for other clouds are still to come/,
  // The blobstore of a release directory.
  /^`local` is the only provider that `slipway` has so far/,
  // In sandboxes, which are no VMs.
  /In a sandbox `job_dir\.tmpfs` has no effect/,
];

const pages = ["README.md", ...readdirSync("docs").filter((name) => name.endsWith(".md"))].map((name) => {
  const path = name === "README.md" ? name : `docs/${name}`;
  return { path, text: readFileSync(path, "utf8") };
});

/** First cells of the rows of a table, or the first words of commands. */
const namesIn = (path: string, verdict: RegExp): string[] =>
  [...readFileSync(path, "utf8").matchAll(/^\| `([^`]+)` \| ([^|]*)\|/gm)]
    .filter(([, , said = ""]) => verdict.test(said))
    .map(([, name = ""]) => name);

const lastKey = (name: string) => name.replace(/\[\]$/, "").split(".").at(-1) ?? "";

/** What there is: commands that work, keys that are used, and the Director's own configuration. */
const FEATURES = new Set([
  ...namesIn("docs/bosh-commands.md", /works|differs/),
  ...namesIn("docs/manifest-keys.md", /used/).map(lastKey),
  ...namesIn("docs/run-the-director.md", /./).map((name) => name.split(/[.[]/)[0] ?? ""),
  ...["teams", "uaa", "resurrection", "managed", "snapshots", "errands", "links"],
]);

const sentences = (text: string): string[] =>
  text
    .replaceAll(/```[\s\S]*?```/g, "")
    .split(/\n{2,}|\n(?=[-|#])|(?<=[.:]) (?=[A-Z`])/)
    .map((one) => one.replaceAll(/\s+/g, " ").trim());

const wordsOf = (sentence: string) => sentence.toLowerCase().match(/[a-z][a-z_-]+/g) ?? [];

describe("documentation pages", () => {
  it("are compared with tables that have the features", () => {
    for (const name of ["update-resurrection", "managed", "uaa", "teams"])
      expect([...FEATURES]).toContain(name);
  });

  it.each(pages)("$path denies no feature that the tables have", ({ text }) => {
    const wrong = sentences(text)
      .filter((one) => DENIES.test(one) && !TRUE_STATEMENTS.some((known) => known.test(one)))
      .map((one) => ({ one, names: wordsOf(one).filter((word) => FEATURES.has(word)) }))
      .filter(({ names }) => names.length > 0);
    expect(wrong).toEqual([]);
  });

  it("the README lists no feature of the tables as missing", () => {
    const readme = pages[0]?.text ?? "";
    const table = readme.split("| you are | works | not yet |")[1]?.split("\n\n")[0] ?? "";
    const missing = table
      .split("\n")
      .slice(2)
      .map((row) => row.split(" | ").at(-1) ?? "");
    expect(missing).toHaveLength(3);
    const denied = missing.flatMap(wordsOf).filter((word) => FEATURES.has(word));
    expect(denied).toEqual([]);
  });
});
