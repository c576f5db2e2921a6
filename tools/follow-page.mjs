// Follows a page word by word: types the commands of its ```text blocks into one shell, and compares what it shows.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MARK = "\u0001";
const PART = /<!-- followed by[^>]*-->\n([\s\S]*)<!-- end of what is followed -->/;

/** Commands and what is shown under each; `...` stands for anything. A command goes on in lines that begin with `>`. */
export function commandsOf(page) {
  const [, part] = PART.exec(readFileSync(page, "utf8")) ?? [];
  if (part === undefined) throw new Error(`${page} has no part that is followed`);
  return [...part.matchAll(/```text\n([\s\S]*?)```/g)].flatMap(([, block]) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [first, ...rest] = text.trimEnd().split("\n");
        const goesOn = rest.findIndex((line) => !line.startsWith(">"));
        const more = rest.slice(0, goesOn < 0 ? rest.length : goesOn);
        const command = [first, ...more.map((line) => line.replace(/^> ?/, ""))].join("\n");
        return { command, shown: rest.slice(more.length) };
      }),
  );
}

/** What differs every time. */
const masked = (line) =>
  line
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
    .replace(/\b(vm|disk|stemcell)-[0-9a-f]{32}\b/g, "$1-CID")
    .replace(/"path":"[^"]*(\/cloud\/[^"]*)"/g, '"path":"$1"')
    .replace(/\b\d\d:\d\d:\d\d\b/g, "TIME")
    .replace(/ \(TIME\)$/, "")
    .replace(/\b[Tt]ask \d+/g, "Task N")
    .replace(/ \(asked \d+ times\)| \.\.\. (failed after )?[\d.]+ m?s$/g, "")
    .replace(/^\+\d+ ms\s*/, "")
    .replace(/\s+/g, " ")
    .trim();

/** The first line that is shown and was not said, in the order of the page. A line may end in `...`. */
export function missing(shown, said) {
  const lines = said.map(masked);
  let from = 0;
  for (const line of shown.filter((one) => one !== "...")) {
    const open = line.endsWith("...");
    const wanted = masked(open ? line.slice(0, -3) : line);
    const at = lines.findIndex((one, i) => i >= from && (open ? one.startsWith(wanted) : one === wanted));
    if (at < 0) return line;
    from = at + 1;
  }
  return undefined;
}

/**
 * Types the page. `replace` changes what cannot be as the page says on a machine that others use too. A command under
 * which an error is shown must fail, every other one must not.
 */
export function follow(page, { env, cwd, replace = (text) => text, withinMs }) {
  const typed = commandsOf(page);
  const script = join(cwd, ".page.sh");
  const lines = typed.flatMap(({ command }) => [replace(command), `printf '%s%s' "$?" '${MARK}'`]);
  writeFileSync(script, ["exec 2>&1", ...lines, ""].join("\n"));
  const { stdout, error } = spawnSync("sh", [script], {
    cwd,
    env: { ...env, NO_COLOR: "1" },
    encoding: "utf8",
    maxBuffer: 1 << 26,
    timeout: withinMs,
  });
  const said = (stdout ?? "").split(MARK);
  for (const [at, { command, shown }] of typed.entries()) {
    const [, text = "", code = ""] = /^([\s\S]*?)(\d*)$/.exec(said[at] ?? "") ?? [];
    const report = `${page}: $ ${command}\n${text}`;
    if (code === "")
      throw new Error(`${report}\nit did not end${error === undefined ? "" : `: ${error.message}`}`);
    const fails = shown.some((line) => /^[A-Z]{3}-\d{3} /.test(line));
    if ((code !== "0") !== fails) throw new Error(`${report}\nended with ${code}`);
    const line = missing(shown, text.split("\n"));
    if (line !== undefined) throw new Error(`${report}\nthe page shows what was not printed: ${line}`);
  }
  return typed.length;
}
