import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire, wrap } from "node:module";
import { dirname } from "node:path";
import { constants, Script } from "node:vm";

/**
 * `node crash-child-start.cjs PROGRAM ORDER CODE` runs a program from the compiled code in a file. Most of what a short life
 * costs is compiling. Without the file, the first that ends well leaves what it has compiled there.
 */
const [program = "", , code = ""] = process.argv.slice(2);

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

const cachedData = read(code);
const script = new Script(wrap(readFileSync(program, "utf8")), {
  filename: program,
  cachedData,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
if (cachedData === undefined)
  process.on("exit", (status) => {
    if (status !== 0) return;
    const mine = `${code}.${process.pid}`;
    writeFileSync(mine, script.createCachedData());
    renameSync(mine, code);
  });

type Start = (exports: object, require: NodeJS.Require, module: object, file: string, dir: string) => void;
const exports = {};
(script.runInThisContext() as Start)(exports, createRequire(program), { exports }, program, dirname(program));
