// Finds cycles between the rooms of a package: the folders and files right under its src. Tests may import anything.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

const IMPORT = /^(?:import|export)\b[^;"]*\bfrom "(\.[^"]+)"|\bimport(?:\(| )"(\.[^"]+)"/gm;
const TEST = /\.test\.ts$|(?:^|\/)testing\//;

/** Every cycle as the imports that make it: `a/x.ts imports b/y.ts`. One for each group of rooms that is tangled. */
export function roomCycles(src) {
  const imports = new Map();
  for (const file of filesIn(src)) {
    const from = relative(src, file).split(sep).join("/");
    if (TEST.test(from)) continue;
    for (const [, clause, bare] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const to = relative(src, join(dirname(file), clause ?? bare))
        .split(sep)
        .join("/");
      if (to.startsWith("..") || TEST.test(to) || roomOf(to) === roomOf(from)) continue;
      const key = `${roomOf(from)} ${roomOf(to)}`;
      imports.set(key, [...(imports.get(key) ?? []), `${from} imports ${to}`]);
    }
  }
  const next = new Map();
  for (const key of imports.keys()) {
    const [from, to] = key.split(" ");
    next.set(from, [...(next.get(from) ?? []), to]);
  }
  return tangles(next).map((rooms) => ({
    rooms,
    imports: [...imports]
      .filter(([key]) => key.split(" ").every((room) => rooms.includes(room)))
      .flatMap(([, lines]) => lines),
  }));
}

const roomOf = (path) => path.split("/")[0];

/** Groups of rooms that lead to each other, by Tarjan's algorithm. */
function tangles(next) {
  const found = [];
  const index = new Map();
  const low = new Map();
  const stack = [];
  const visit = (room) => {
    index.set(room, index.size);
    low.set(room, index.get(room));
    stack.push(room);
    for (const to of next.get(room) ?? []) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(room, Math.min(low.get(room), low.get(to)));
    }
    if (low.get(room) !== index.get(room)) return;
    const group = stack.splice(stack.indexOf(room));
    if (group.length > 1) found.push(group.sort());
  };
  for (const room of next.keys()) if (!index.has(room)) visit(room);
  return found;
}

function* filesIn(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.name.endsWith(".ts")) yield path;
  }
}
