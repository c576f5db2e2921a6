import { createHash } from "node:crypto";
import { chmod, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import { BackupUnreadable } from "./errors.ts";
import { sha256 } from "./files.ts";
import { BESIDE, DATABASE, type FileEntry, MANIFEST, type Manifest, rowsOf, STATE } from "./format.ts";
import type { Loaded } from "./load.ts";
import { type Backup, type BackupFile, bytesOf, entriesOf } from "./read.ts";

/**
 * Writes the files of a backup that was verified below `dir`, puts those that belong elsewhere into `beside`, and hands
 * out the rows. What has changed since it was verified is refused.
 */
export async function* unpacked(
  backup: Backup,
  manifest: Manifest,
  dir: string,
  beside: Map<string, Buffer>,
): Loaded {
  const broken = (why: string) => BackupUnreadable({ path: backup.path, why });
  const listed = new Map(manifest.files.map((file) => [file.path, file]));
  for (const { path, mode } of manifest.directories) {
    const made = below(dir, path, broken);
    await mkdir(made, { recursive: true, mode });
    await chmod(made, mode);
  }
  for await (const entry of entriesOf(backup)) {
    if (entry.path === MANIFEST) continue;
    const file = listed.get(entry.path);
    const changed = () => broken(`${entry.path} was changed while it was restored`);
    if (file === undefined) throw changed();
    if (entry.path.startsWith(STATE)) {
      const target = below(dir, entry.path.slice(STATE.length), broken);
      if ((await write(entry, target, file)) !== file.sha256) throw changed();
      continue;
    }
    const bytes = await bytesOf(entry, broken);
    if (sha256(bytes) !== file.sha256) throw changed();
    if (entry.path.startsWith(BESIDE)) beside.set(entry.path.slice(BESIDE.length), bytes);
    if (!entry.path.startsWith(DATABASE)) continue;
    const table = entry.path.split("/")[1] ?? "";
    yield { table, rows: rowsOf(JSON.parse(bytes.toString("utf8"))) };
  }
  for (const path of ["", ...manifest.directories.map((one) => one.path)])
    await syncDirectory(join(dir, path));
}

/** Returns a path below a directory. Directories come from the manifest, which may be forged. */
function below(dir: string, path: string, broken: (why: string) => Error): string {
  const parts = path.split("/");
  if (path === "" || parts.some((part) => ["", ".", ".."].includes(part)))
    throw broken(`${path} leads out of it`);
  return join(dir, path);
}

async function write({ body }: BackupFile, target: string, { mode }: FileEntry): Promise<string> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const file = await open(target, "wx", mode);
  const hash = createHash("sha256");
  try {
    for await (const piece of body) {
      hash.update(piece);
      await file.writeFile(piece);
    }
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}
