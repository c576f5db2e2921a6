// Packs a program so that V8's code cache can be used for it: a loader, and the code as data that only the loader reads.
// Node would read and parse all of the code before its first line runs.
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const LOADER = fileURLToPath(new URL("code-cache/loader.cjs", import.meta.url));
const WRAPPER = ["(function(exports,require,module,__filename,__dirname){", "\n})"];

/**
 * Makes `to` of the program `from`: one file, which works wherever it is copied. With `split`, parts that are imported
 * dynamically are read when they are needed, and the code is in a second file, `.pack`, beside `to`: Node reads the first one
 * whole at every start.
 */
export async function packProgram({ from, to, split = false, settings }) {
  const parts = split ? await splitParts(from, settings) : await onePart(from, settings);
  const main = Object.keys(parts)[0];
  const modules = {};
  const pieces = [];
  let total = 0;
  for (const [name, code] of Object.entries(parts)) {
    const bytes = Buffer.from(WRAPPER.join(code.replace(/^#!.*/, "")), "latin1");
    const changed = split ? [] : withoutCommentEnd(bytes);
    modules[name] = [total, bytes.length, changed];
    pieces.push(bytes);
    total += bytes.length;
  }
  const code = Buffer.concat(pieces);
  const id = createHash("sha256").update(JSON.stringify(modules)).update(code).digest("hex").slice(0, 32);
  const { code: loader } = await transform(await readFile(LOADER, "utf8"), {
    define: { PACKED: JSON.stringify({ id, main, beside: split, total, modules }) },
    minify: true,
    target: settings.target,
    platform: "node",
    format: "cjs",
  });
  const program = [Buffer.from(`#!/usr/bin/env node\n${loader}`)];
  if (split) await replace(to.replace(/\.cjs$/, ".pack"), code);
  else program.push(Buffer.from("/*"), code, Buffer.from("*/"));
  await replace(to, Buffer.concat(program));
  await chmod(to, 0o755);
}

/** A program that starts meanwhile finds the old file or the new one. */
async function replace(path, bytes) {
  const draft = `${path}.new`;
  // Nothing was built yet in a fresh clone.
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, bytes);
  await rename(draft, path);
}

async function onePart(from, settings) {
  const { outputFiles } = await build({ ...settings, entryPoints: [from], write: false });
  return { [basename(from)]: ascii(from, outputFiles[0].text) };
}

/** esbuild splits modules only; each part becomes what `require` loads afterwards. The program itself is the first. */
async function splitParts(from, settings) {
  const { outputFiles, metafile } = await build({
    ...settings,
    entryPoints: [from],
    format: "esm",
    splitting: true,
    outdir: join(dirname(from), "unused"),
    write: false,
    metafile: true,
  });
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === from)?.[0];
  const isEntry = ({ path }) => basename(path) === basename(entry ?? "");
  const parts = {};
  for (const file of [...outputFiles].sort((a, b) => Number(isEntry(b)) - Number(isEntry(a)))) {
    const { code } = await transform(file.text, { ...transformed(settings), format: "cjs" });
    const output = Object.entries(metafile.outputs).find(([path]) => basename(path) === basename(file.path));
    parts[`./${basename(file.path)}`] = ascii(file.path, isCommonJs(output?.[1]) ? code + AS_IT_IS : code);
  }
  return parts;
}

/**
 * A CommonJS library that is imported dynamically becomes a part with nothing but a default export. Without splitting, its
 * names can be imported too; this makes them the part's own.
 */
const AS_IT_IS = ";module.exports=module.exports.default;";
const isCommonJs = (output) =>
  output?.entryPoint?.includes("node_modules/") && output.exports.join() === "default";

const transformed = ({ target, platform, minifySyntax, minifyWhitespace, legalComments, supported }) => ({
  ...{ target, platform, minifySyntax, minifyWhitespace, legalComments, supported },
});

/** Positions are counted in bytes. */
function ascii(name, code) {
  for (let at = 0; at < code.length; at++)
    if (code.charCodeAt(at) > 0x7f) throw new Error(`${name} has a character that is not ASCII at ${at}`);
  return code;
}

/** Replaces what would end the comment that the code is kept in; returns where, so that the loader can put it back. */
function withoutCommentEnd(bytes) {
  const changed = [];
  for (let at = bytes.indexOf("*/"); at >= 0; at = bytes.indexOf("*/", at + 1)) {
    bytes[at + 1] = 0x01;
    changed.push(at + 1);
  }
  return changed;
}

/** Removes caches of the program's former code, also those of other versions of Node. */
export async function removeCaches(to) {
  for (const file of await readdir(dirname(to)))
    if (file.startsWith(`${basename(to)}.`) && file.endsWith(".cache"))
      await rm(join(dirname(to), file), { force: true });
}
