import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const pages = [
  ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md"],
  ...readdirSync("docs", { recursive: true, encoding: "utf8" }).map((path) => join("docs", path)),
  ...readdirSync("packages").map((name) => join("packages", name, "README.md")),
].filter((path) => path.endsWith(".md"));

/** As GitHub makes them of headings. */
const anchors = (page: string): readonly string[] =>
  [...readFileSync(page, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

describe("the pages", () => {
  it.each(pages)("%s leads to things that are there", (page) => {
    const text = readFileSync(page, "utf8").replace(/```[\s\S]*?```/g, "");
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = ""]) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = "", anchor] = link.split("#");
        const target = path === "" ? page : join(dirname(page), path);
        if (!existsSync(target)) return true;
        if (anchor === undefined || statSync(target).isDirectory()) return false;
        return !anchors(target).includes(anchor);
      });
    expect(broken).toEqual([]);
  });

  it("every page of the docs can be reached from the README", () => {
    const readme = readFileSync("README.md", "utf8");
    const lost = readdirSync("docs").filter(
      (name) => name.endsWith(".md") && !readme.includes(`docs/${name}`),
    );
    expect(lost).toEqual([]);
  });

  it("no page tells to run our programs with npx, which fetches what others may have published", () => {
    const wrong = pages.filter((page) => /\bnpx slipway/.test(readFileSync(page, "utf8")));
    expect(wrong).toEqual([]);
  });

  it("every package says what it is", () => {
    const silent = readdirSync("packages").filter((name) => !existsSync(join("packages", name, "README.md")));
    expect(silent).toEqual([]);
  });
});
