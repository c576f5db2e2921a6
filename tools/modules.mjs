// Finds cycles between the modules of a package: the folders and files right under its src. Tests may import anything.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

const IMPORT = /^(?:import|export)\b[^;"]*\bfrom "(\.[^"]+)"|\bimport(?:\(| )"(\.[^"]+)"/gm;
const TEST = /\.test\.ts$|(?:^|\/)testing\//;

/** Every cycle as the imports that make it: `a/x.ts imports b/y.ts`. One for each group of modules that is tangled. */
export function moduleCycles(src) {
  const imports = new Map();
  for (const file of filesIn(src)) {
    const from = relative(src, file).split(sep).join("/");
    if (TEST.test(from)) continue;
    for (const [, clause, bare] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const to = relative(src, join(dirname(file), clause ?? bare))
        .split(sep)
        .join("/");
      if (to.startsWith("..") || TEST.test(to) || moduleOf(to) === moduleOf(from)) continue;
      const key = `${moduleOf(from)} ${moduleOf(to)}`;
      imports.set(key, [...(imports.get(key) ?? []), `${from} imports ${to}`]);
    }
  }
  const next = new Map();
  for (const key of imports.keys()) {
    const [from, to] = key.split(" ");
    next.set(from, [...(next.get(from) ?? []), to]);
  }
  return tangles(next).map((modules) => ({
    modules,
    imports: [...imports]
      .filter(([key]) => key.split(" ").every((module) => modules.includes(module)))
      .flatMap(([, lines]) => lines),
  }));
}

const moduleOf = (path) => path.split("/")[0];

/** Groups of modules that lead to each other, by Tarjan's algorithm. */
function tangles(next) {
  const found = [];
  const index = new Map();
  const low = new Map();
  const stack = [];
  const visit = (module) => {
    index.set(module, index.size);
    low.set(module, index.get(module));
    stack.push(module);
    for (const to of next.get(module) ?? []) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(module, Math.min(low.get(module), low.get(to)));
    }
    if (low.get(module) !== index.get(module)) return;
    const group = stack.splice(stack.indexOf(module));
    if (group.length > 1) found.push(group.sort());
  };
  for (const module of next.keys()) if (!index.has(module)) visit(module);
  return found;
}

function* filesIn(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (/\.tsx?$/.test(entry.name)) yield path;
  }
}
