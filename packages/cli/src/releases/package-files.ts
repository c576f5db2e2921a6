import { readlink } from "node:fs/promises";
import { join } from "node:path";
import type { SourceFile } from "@slipway/engine/releases/source/fingerprint";
import { globFiles, type MatchedFile } from "@slipway/engine/releases/source/glob";
import { Unbuildable } from "./errors.ts";
import type { PackageSpec } from "./package-spec.ts";

/** Returns the files that a package's patterns match in `src/`, then among the tracked blobs. */
export async function packageFiles(
  dir: string,
  spec: PackageSpec,
  blobs: ReadonlySet<string>,
): Promise<readonly SourceFile[]> {
  const roots = [
    { root: join(dir, "src"), counts: () => true },
    // What lies there and is not tracked is on no other machine.
    { root: join(dir, "blobs"), counts: ({ name }: MatchedFile) => blobs.has(name) },
  ];
  const chosen = new Map<string, { readonly root: string; readonly found: MatchedFile }>();
  for (const pattern of spec.files) {
    let any = false;
    for (const { root, counts } of roots)
      for (const found of (await matching(root, pattern)).filter(counts)) {
        any = true;
        if (!chosen.has(found.name)) chosen.set(found.name, { root, found });
      }
    if (!any) throw Unbuildable({ why: await missing(dir, pattern) });
  }
  for (const pattern of spec.excludedFiles)
    for (const { root } of roots) for (const { name } of await matching(root, pattern)) chosen.delete(name);
  for (const special of ["packaging", "pre_packaging"])
    if (chosen.has(special))
      throw Unbuildable({
        why: `Expected special '${special}' file to not be included via 'files' key for package '${spec.name}'`,
      });
  return await Promise.all([...chosen.values()].map(({ root, found }) => fileOf(root, found)));
}

/** Describes a pattern without matches. Names an untracked blob that matches: it looks as if it were there. */
async function missing(dir: string, pattern: string): Promise<string> {
  const [untracked] = await matching(join(dir, "blobs"), pattern);
  const hint =
    untracked === undefined ? "" : `: blobs/${untracked.name} is not tracked, \`add-blob\` does that`;
  return `Missing files for pattern '${pattern}'${hint}`;
}

async function matching(root: string, pattern: string): Promise<readonly MatchedFile[]> {
  const found = await globFiles(root, pattern);
  if (found === undefined)
    throw Unbuildable({ why: `'${pattern}' is no pattern of files below src/ and blobs/` });
  return found;
}

async function fileOf(root: string, { name, type, executable }: MatchedFile): Promise<SourceFile> {
  const path = join(root, name);
  if (type === "symlink") return { name, content: { type: "symlink", to: await readlink(path) } };
  return { name, content: { type: "file", path, executable } };
}
