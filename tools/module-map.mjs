// The map of the modules: the folders right under the `src` of each package, and the one line of each folder's README.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Longest line of a module: it is a cell of a table. */
const LONGEST = 140;

/**
 * Returns the packages below `top` with their modules and lines. Throws an error that names every folder whose README.md is
 * missing, empty, too long, or has more than one line.
 */
export function modulesOf(top) {
  const problems = [];
  const packages = readdirSync(top)
    .filter((name) => existsSync(join(top, name, "package.json")))
    .map((name) => {
      const { description } = JSON.parse(readFileSync(join(top, name, "package.json"), "utf8"));
      const src = join(top, name, "src");
      const modules = readdirSync(src, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && entry.name !== "testing")
        .map((entry) => {
          const file = join(src, entry.name, "README.md");
          const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
          if (text === "") problems.push(`${file}: missing; say in one line what the folder holds`);
          else if (text.includes("\n")) problems.push(`${file}: more than one line`);
          else if (text.length > LONGEST) problems.push(`${file}: longer than ${LONGEST} characters`);
          return { module: entry.name, line: text };
        });
      return { name, description, modules };
    });
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return packages;
}
