import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { fingerprint, type SourceFile } from "@slipway/engine/releases/source/fingerprint";
import { archiveEntries, writeTarFile } from "@slipway/engine/releases/source/source-archive";
import type { Exec } from "@slipway/kernel/exec";
import type { ArchiveCache } from "./archive-cache.ts";
import { PrePackagingFailed, SourceChanged } from "./errors.ts";
import type { ResourceSource, SourceResource } from "./source.ts";

export interface BuildTools {
  readonly cache: ArchiveCache;
  readonly exec: Exec;
  readonly env: Readonly<Record<string, string>>;
  readonly stop: AbortSignal;
}

/** Makes the archive of a resource from its source, in the cache. */
export async function buildResource(
  dir: string,
  resource: SourceResource,
  source: ResourceSource,
  tools: BuildTools,
): Promise<{ readonly path: string; readonly digest: string }> {
  const made = await tools.cache.make(async (to) => {
    if (source.prepare === undefined) return await write(to, source.files, source.gzip);
    const staging = await mkdtemp(join(tmpdir(), "slipway-package-"));
    try {
      const files = await prepared(dir, staging, resource, source, tools);
      return await write(to, files, source.gzip);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  });
  const extra = resource.kind === "package" ? resource.needs : [];
  if ((await fingerprint(source.files, extra)) !== resource.fingerprint)
    throw SourceChanged({ what: `${resource.kind} '${resource.name}'` });
  return made;
}

const write = (to: string, files: readonly SourceFile[], gzip: boolean) =>
  writeTarFile(to, archiveEntries(files), { gzip });

/** Returns the files of a package after its `pre_packaging` script ran. */
async function prepared(
  dir: string,
  staging: string,
  { name }: SourceResource,
  { files, prepare }: ResourceSource,
  { exec, env, stop }: BuildTools,
): Promise<readonly SourceFile[]> {
  for (const file of files) await stage(staging, file);
  const script = join(staging, prepare?.name ?? "");
  const { code, stderr } = await exec("bash", ["-x", script], {
    cwd: staging,
    env: { ...env, BUILD_DIR: staging, RELEASE_DIR: dir },
    signal: stop,
  });
  if (code !== 0) throw PrePackagingFailed({ name, code, stderr: stderr.trim().slice(-2000) });
  await rm(script, { force: true });
  const found: SourceFile[] = [];
  for (const entry of await readdir(staging, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    found.push({
      name: relative(staging, path).split(sep).join("/"),
      content: entry.isSymbolicLink()
        ? { type: "symlink", to: await readlink(path) }
        : { type: "file", path, executable: ((await lstat(path)).mode & 0o111) !== 0 },
    });
  }
  return found;
}

async function stage(staging: string, { name, content }: SourceFile): Promise<void> {
  const to = join(staging, name);
  await mkdir(dirname(to), { recursive: true });
  if (content.type === "symlink") return await symlink(content.to, to);
  if (content.type === "text") return await writeFile(to, content.text);
  await copyFile(content.path, to);
  await chmod(to, content.executable ? 0o755 : 0o644);
}
