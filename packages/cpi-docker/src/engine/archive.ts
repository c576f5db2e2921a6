import type { Engine } from "./engine.ts";
import { padding, TAR_END, tarHeader } from "./tar.ts";

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
    body: tarOf(files),
  });
}

/** A tar of files that belong to root, with the directories they are in. */
export function tarOf(files: readonly ArchiveFile[]): Buffer {
  const directories = directoriesOf(files).map((name) =>
    tarHeader({ type: "directory", name, mode: 0o755 }, 0, 0),
  );
  const blocks = files.flatMap(({ name, content, mode }) => {
    const bytes = Buffer.from(content, "utf8");
    return [
      tarHeader({ type: "text", name, mode, text: content }, bytes.length, 0),
      bytes,
      padding(bytes.length),
    ];
  });
  return Buffer.concat([...directories, ...blocks, TAR_END]);
}

/** Outermost first. */
function directoriesOf(files: readonly ArchiveFile[]): readonly string[] {
  const all = files.flatMap(({ name }) => {
    const parts = name.split("/").slice(0, -1);
    return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
  });
  return [...new Set(all)].sort();
}
