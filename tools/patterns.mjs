// Checks that every regular expression in the sources is linear: one that is not lets whoever sends the right text stop
// the program that reads it.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { superlinear } from "./linear.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Those made of text while the program runs, by file, and why they do no harm. */
const MADE = {
  "packages/agent/src/platform/linux/disks/resolve/by-id-link.ts":
    "from the stemcell's own configuration, for one cid",
  "packages/agent/src/platform/linux/system/user-pattern.ts": "run with a time limit",
  "packages/agent/src/actions/ssh.ts": "of the Director, run by user-pattern.ts",
  "packages/agent/src/platform/linux/system/proc.ts": "the name of a line of /proc/meminfo",
  "packages/agent/src/logs/glob.ts": "a filter of the Director, for paths of logs",
  "packages/agent/src/supervisor/load.ts": "a name with * in the monit files of the jobs, for names of files",
  "packages/agent/src/supervisor/builtin/connect.ts": "of the job's own monit file",
  "packages/agent/src/supervisor/builtin/observe.ts": "of the job's own monit file",
  "packages/agent/src/supervisor/builtin/tests.ts": "of the job's own monit file",
  "packages/agent/src/supervisor/builtin/usage.ts": "the name of a line of /proc/meminfo",
  "packages/agent/src/supervisor/monit-file/cursor.ts": "only made, to see whether it can be",
  "packages/engine/src/json-schema/assertions.ts":
    "of a job's schema, on a thread of its own with a time limit",
  "packages/engine/src/pki/pair-file.ts": "the label of a PEM block",
};

/** Every pattern of a source, with its line: `{ source, flags, line }`; those made by `new RegExp` have no source. */
export function patternsIn(text) {
  const found = [];
  const line = (at) => text.slice(0, at).split("\n").length;
  // One token after the other: only so is it known whether a / divides.
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|\$\{|`|[\w$]+|\s+|[\s\S]/y;
  const templates = [];
  let depth = 0;
  let before = "";
  // The line that names the interpreter is none of ours.
  let at = text.startsWith("#!") ? text.indexOf("\n") : 0;
  const template = () => {
    while (at < text.length && text[at] !== "`" && !text.startsWith("${", at))
      at += text[at] === "\\" ? 2 : 1;
    if (text[at] === "`") at += 1;
    else {
      templates.push(depth);
      at += 2;
    }
  };
  while (at < text.length) {
    if (text[at] === "/" && !"/*".includes(text[at + 1] ?? "") && mayBegin(before)) {
      const end = endOfPattern(text, at);
      const flags = /^[a-z]*/.exec(text.slice(end + 1))?.[0] ?? "";
      found.push({ source: text.slice(at + 1, end), flags, line: line(at) });
      at = end + 1 + flags.length;
      before = "x";
      continue;
    }
    token.lastIndex = at;
    const [word] = token.exec(text);
    if (word === "RegExp" && before === "new") found.push({ source: undefined, flags: "", line: line(at) });
    at += word.length;
    if (word === "{") depth++;
    if (word === "}" && templates.at(-1) === depth) {
      templates.pop();
      template();
      before = "x";
      continue;
    }
    if (word === "}") depth--;
    if (word === "`") template();
    if (!/^\s|^\/[/*]/.test(word)) before = word === "`" || /^["']/.test(word) ? "x" : word;
  }
  return found;
}

/** After a value a / divides; after anything else a pattern begins. */
const mayBegin = (before) =>
  /^(?:return|typeof|case|in|of|await|yield|else)$/.test(before) || !/^(?:[\w$]+|\)|\]|\})$/.test(before);

function endOfPattern(text, begin) {
  let inClass = false;
  for (let at = begin + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "[") inClass = true;
    else if (text[at] === "]") inClass = false;
    else if (text[at] === "/" && !inClass) return at;
  }
  throw new Error("a pattern without end");
}

/** The problems of one file. */
export function problemsOf(file, text) {
  return patternsIn(text).flatMap(({ source, flags, line }) => {
    if (source === undefined)
      return file in MADE ? [] : [`${file}:${line}: makes a pattern of text; see MADE in tools/patterns.mjs`];
    const why = superlinear(source, flags);
    return why === undefined ? [] : [`${file}:${line}: /${source}/${flags}: ${why}`];
  });
}

function main() {
  process.chdir(root);
  const problems = [];
  let count = 0;
  for (const top of ["packages", "examples"])
    for (const entry of readdirSync(top, { withFileTypes: true, recursive: true })) {
      const file = join(entry.parentPath ?? entry.path, entry.name);
      if (
        !/\/src\/.*\.ts$/.test(file) ||
        /\.test\.ts$|\/testing\/|^packages\/(?:testkit|sim)\/|node_modules/.test(file)
      )
        continue;
      const text = readFileSync(file, "utf8");
      count += patternsIn(text).length;
      problems.push(...problemsOf(file, text));
    }
  if (problems.length > 0) {
    console.error(`${problems.join("\n")}\n${problems.length} pattern(s) that are not linear.`);
    process.exit(1);
  }
  console.log(`patterns: ${count} regular expressions are linear`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
