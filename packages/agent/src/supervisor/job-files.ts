import { readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { exists, ifThere } from "@slipway/kernel/files";
import { type ApplySpec, hasJobs } from "@slipway/protocol/agent/apply-spec";
import type { Paths } from "../paths.ts";
import type { MonitFile } from "../services.ts";
import { writeState } from "../state/state-file.ts";
import { MonitFileUnreadable } from "./errors.ts";

/** The monit files of the applied jobs: `monit`, and every `<label>.monit`. */
export async function monitFilesOf(spec: ApplySpec | undefined, paths: Paths): Promise<readonly MonitFile[]> {
  if (spec === undefined || !hasJobs(spec)) return [];
  const files: MonitFile[] = [];
  for (const { name: job } of spec.job?.templates ?? []) {
    const directory = join(paths.jobs, job);
    const names = (await ifThere(readdir(directory))) ?? [];
    if (names.includes("monit")) files.push({ job, path: join(directory, "monit") });
    for (const name of names.filter((one) => one.endsWith(".monit")).sort())
      files.push({ job, path: join(directory, name) });
  }
  return files;
}

/**
 * Upstream's names: `0000_<job>.monitrc`, counted from the last job, so that monit, which reads them in the order of
 * their names, meets the last job first.
 */
export function namesIn(files: readonly MonitFile[]): readonly (readonly [name: string, file: MonitFile])[] {
  const jobs = [...new Set(files.map((file) => file.job))];
  return files.map((file) => {
    const index = String(jobs.length - 1 - jobs.indexOf(file.job)).padStart(4, "0");
    const label = basename(file.path).replace(/\.monit$/, "");
    const own = basename(file.path) === "monit" ? file.job : `${file.job}_${label}`;
    return [`${index}_${own}.monitrc`, file] as const;
  });
}

/** Makes the directory of monit files hold exactly these. */
export async function writeMonitDirectory(files: readonly MonitFile[], directory: string): Promise<void> {
  const wanted = new Map<string, string>();
  for (const [name, { job, path }] of namesIn(files)) {
    const text = await readFile(path, "utf8").catch((cause: unknown) => {
      throw MonitFileUnreadable({ job, path }, { cause });
    });
    wanted.set(name, text);
  }
  for (const name of (await ifThere(readdir(directory))) ?? [])
    if (!wanted.has(name)) await rm(join(directory, name), { recursive: true, force: true });
  for (const [name, text] of wanted) {
    const path = join(directory, name);
    if ((await exists(path)) && (await readFile(path, "utf8")) === text) continue;
    // monit refuses files that others may write; passwords may be in them.
    await writeState(path, text, 0o600);
  }
}

export interface JobText {
  readonly file: string;
  readonly text: string;
}

export async function readMonitDirectory(directory: string): Promise<readonly JobText[]> {
  const names = ((await ifThere(readdir(directory))) ?? [])
    .filter((name) => name.endsWith(".monitrc"))
    .sort();
  return await Promise.all(
    names.map(async (name) => ({
      file: join(directory, name),
      text: await readFile(join(directory, name), "utf8"),
    })),
  );
}

/** The job a file of that directory is of: what stands between the number and the suffix, label included. */
export const jobOf = (file: string): string =>
  basename(file)
    .replace(/^\d{4}_/, "")
    .replace(/\.monitrc$/, "");

export async function setMarker(path: string, there: boolean): Promise<void> {
  if (!there) await rm(path, { force: true });
  else if (!(await exists(path))) await writeState(path, "", 0o644);
}
