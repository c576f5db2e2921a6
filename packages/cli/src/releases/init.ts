import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Exec, mustRun } from "@slipway/kernel/exec";
import { exists, ifThere } from "@slipway/kernel/files";
import { writeBlobs } from "./blobs.ts";
import { finalFile } from "./config.ts";
import { ReleaseThere } from "./errors.ts";
import { yamlFile } from "./read-yaml.ts";

/** Files of a release directory that are not committed: built, fetched or secret ones. */
const IGNORED = [
  ...["config/private.yml", "blobs", "dev_releases", "releases/*.tgz", "releases/**/*.tgz", ".dev_builds"],
  ...[".final_builds/jobs/**/*.tgz", ".final_builds/packages/**/*.tgz"],
  ...[".DS_Store", ".idea", "*.swp", "*~", "*#", "#*"],
];

/** A release directory with nothing in it yet. */
export async function initRelease(
  dir: string,
  { git }: { readonly git: { readonly exec: Exec; readonly env: Record<string, string> } | undefined },
): Promise<void> {
  const files = [finalFile(dir), join(dir, "config", "blobs.yml")];
  for (const file of files) if (await exists(file)) throw ReleaseThere({ dir });
  for (const name of ["config", "jobs", "packages", "src"]) await mkdir(join(dir, name), { recursive: true });
  await writeFile(finalFile(dir), yamlFile({ name: basename(dir).replace(/-release$/, "") }));
  await writeBlobs(dir, []);
  if (git === undefined) return;
  await mustRun(git.exec, "Initing git repo", "git", ["init", dir], { env: git.env });
  const ignore = join(dir, ".gitignore");
  const before = (await ifThere(readFile(ignore, "utf8"))) ?? "";
  const has = new Set(before.split("\n"));
  const gap = before === "" || before.endsWith("\n") ? "" : "\n";
  const missing = IGNORED.filter((line) => !has.has(line)).map((line) => `${line}\n`);
  await writeFile(ignore, `${before}${gap}${missing.join("")}`);
}
