import { buffer, text } from "node:stream/consumers";
import type { HttpReply } from "@slipway/kernel/http/client";
import { readTar } from "@slipway/kernel/tar/read";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import { EngineRefused } from "../errors.ts";
import { type Engine, refused } from "./engine.ts";

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

/** Returns the content of a file of a container, running or not; undefined if there is no such file. */
export async function fileIn(
  engine: Engine,
  container: string,
  path: string,
  doing: string,
): Promise<string | undefined> {
  const reply = await archiveOf(engine, container, path, doing);
  if (reply === undefined) return undefined;
  try {
    const refuse = (said: string) => EngineRefused({ doing, status: reply.status, said });
    for await (const { body } of readTar(reply.body, { refuse, end: "optional" })) return await text(body);
    return undefined;
  } finally {
    reply.discard();
  }
}

export async function hasFile(
  engine: Engine,
  container: string,
  path: string,
  doing: string,
): Promise<boolean> {
  const reply = await archiveOf(engine, container, path, doing);
  reply?.discard();
  return reply !== undefined;
}

async function archiveOf(
  engine: Engine,
  container: string,
  path: string,
  doing: string,
): Promise<HttpReply | undefined> {
  const at = `/containers/${encodeURIComponent(container)}/archive`;
  const reply = await engine.attempt({ doing, method: "GET", path: at, query: { path } });
  if (!refused(reply)) return reply;
  if (reply.status === 404) return undefined;
  throw EngineRefused({ doing, ...reply });
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
