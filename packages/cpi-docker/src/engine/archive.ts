import { buffer } from "node:stream/consumers";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import type { Engine } from "./engine.ts";

export interface ArchiveFile {
  /** Without a leading slash. */
  readonly name: string;
  readonly content: string;
  readonly mode: number;
}

/** Puts files into a container, running or not, before anything in it can read them half. */
export async function putFiles(
  engine: Engine,
  container: string,
  files: readonly ArchiveFile[],
  doing: string,
): Promise<void> {
  await engine.run({
    doing,
    method: "PUT",
    path: `/containers/${encodeURIComponent(container)}/archive`,
    query: { path: "/", noOverwriteDirNonDir: "true" },
    body: await tarOf(files),
  });
}

/** A tar of files that belong to root, with the directories they are in. */
export async function tarOf(files: readonly ArchiveFile[]): Promise<Buffer> {
  const directories = directoriesOf(files).map(
    (name): TarInput => ({ type: "directory", name, mode: 0o755 }),
  );
  const texts = files.map(
    ({ name, content, mode }): TarInput => ({ type: "text", name, mode, text: content }),
  );
  return await buffer(tarBytes([...directories, ...texts], 0));
}

/** Outermost first. */
function directoriesOf(files: readonly ArchiveFile[]): readonly string[] {
  const all = files.flatMap(({ name }) => {
    const parts = name.split("/").slice(0, -1);
    return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
  });
  return [...new Set(all)].sort();
}
