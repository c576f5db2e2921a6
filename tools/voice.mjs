// Counts what `CONTRIBUTING.md#english` rules out: doc comments that start as fragments, and test titles that do not stand
// alone. Each package may have as many as `voice-limits.json` says, and never more: the numbers only go down.
//   node tools/voice.mjs           fails if a package has more than its limit, or fewer
//   node tools/voice.mjs --list P  lists those of a package
//   node tools/voice.mjs --write   writes the numbers of now, if none went up
// Names of files and exports that use a private word, such as `told` or `whose`, fail unless `voice-names.json` has them.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const LIMITS = "tools/voice-limits.json";
/** Names with ruled out words that are still to be renamed. New ones are refused; entries are only taken out. */
const NAMES_LEFT = "tools/voice-names.json";

const COMMENT =
  /^[ \t]*\/\*\*(?: |\n[ \t]*\* )((?:Of|Whose|Who|Whom|Whoever|It|They|What|Which|That|Whether|Told|By|Also|Somebody|Nobody|One that|Those|For whom|As|Where)\b.*)$/gm;
const TITLE =
  /^[ \t]*it(?:\.\w+\([^)]*\))*\("((?:that|whose|who|of|with|by|as|when it|where|and|but|also) [^"]*)"/gm;

/** Returns the problems of a source, as `line: text`. */
export function problemsIn(source, isTest) {
  const found = [];
  const patterns = isTest ? [COMMENT, TITLE] : [COMMENT];
  for (const pattern of patterns)
    for (const match of source.matchAll(pattern)) {
      const line = source.slice(0, match.index).split("\n").length;
      found.push(`${line}: ${match[1].slice(0, 100)}`);
    }
  return found;
}

const PRIVATE_WORDS =
  /^(?:anew|begun|bell|bring|early|itself|nobody|seeing|setback|somebody|together|told|turns|way|whoever|whom|whose)$/;
const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|class|interface|type|enum|let) (\w+)/gm;

/** Returns the name of a file and the names that it exports, of those that have a word of no field. */
export function privateNamesIn(file, source) {
  const base = file
    .split("/")
    .pop()
    .replace(/\.tsx?$/, "");
  const names = [...source.matchAll(EXPORT)].map((match) => match[1]).filter(isPrivate);
  return isPrivate(base) ? [base, ...names] : names;
}

const isPrivate = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[-_.]/)
    .some((word) => PRIVATE_WORDS.test(word));

/** Compares the counts of now with the limits and returns what is wrong, as sentences. */
export function judge(counts, limits) {
  const wrong = [];
  for (const [name, count] of Object.entries(counts)) {
    const limit = limits[name] ?? 0;
    if (count > limit)
      wrong.push(
        `${name}: ${count} comments or test titles read as fragments, ${count - limit} more than before; \`node tools/voice.mjs --list ${name}\` shows them, CONTRIBUTING.md#english says what to write`,
      );
    if (count < limit)
      wrong.push(
        `${name}: ${count} instead of ${limit} fragments; write it down: \`node tools/voice.mjs --write\``,
      );
  }
  return wrong;
}

function privateNames() {
  const found = [];
  for (const file of readdirSync("packages").flatMap((name) => filesIn(join("packages", name, "src"))))
    for (const name of privateNamesIn(file, readFileSync(file, "utf8"))) found.push(`${file} ${name}`);
  return found.sort();
}

function countsOf(list) {
  const counts = {};
  for (const name of readdirSync("packages")) {
    counts[name] = 0;
    for (const file of filesIn(join("packages", name, "src"))) {
      const problems = problemsIn(readFileSync(file, "utf8"), file.endsWith(".test.ts"));
      counts[name] += problems.length;
      if (name === list) for (const problem of problems) console.log(`${file}:${problem}`);
    }
  }
  return counts;
}

function filesIn(dir) {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

if (process.argv[1]?.endsWith("voice.mjs")) {
  const at = process.argv.indexOf("--list");
  const counts = countsOf(at === -1 ? undefined : process.argv[at + 1]);
  const write = process.argv.includes("--write");
  const limits = JSON.parse(readFileSync(LIMITS, "utf8"));
  const wrong = judge(counts, limits).filter((line) => !write || line.includes("more than before"));
  const left = JSON.parse(readFileSync(NAMES_LEFT, "utf8"));
  const names = privateNames();
  if (!write)
    for (const name of names.filter((one) => !left.includes(one)))
      wrong.push(
        `${name}: the name has a word of no field; CONTRIBUTING.md#english says which names to take`,
      );
  for (const line of wrong) console.error(line);
  if (wrong.length > 0) process.exit(1);
  if (write) writeFileSync(LIMITS, `${JSON.stringify(counts, null, 2)}\n`);
  if (write) {
    const kept = names.filter((name) => left.includes(name));
    writeFileSync(NAMES_LEFT, `${JSON.stringify(kept, null, 2)}\n`);
  }
  console.log(`voice: ${Object.values(counts).reduce((a, b) => a + b, 0)} fragments left, none new`);
}
