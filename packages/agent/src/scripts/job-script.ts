import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "@slipway/kernel/files";
import { type ApplySpec, hasJobs } from "@slipway/protocol/agent/apply-spec";
import { BadRequest } from "../errors.ts";
import type { AgentServices } from "../services.ts";
import { CannotRun, LogNotWritable } from "./errors.ts";
import { type GroupEnd, runGroup } from "./group.ts";
import { endLeftover, type LeftoverTools, type NotedRun, noteRun } from "./leftovers.ts";
import { whyNotRun } from "./usual-limits.ts";

export type ScriptServices = Pick<AgentServices, "paths" | "clock" | "random" | "log">;

/** A script of an applied job, such as `bin/pre-start`. */
export interface JobScript {
  readonly job: string;
  /** Its name below `bin`. */
  readonly script: string;
}

export interface ScriptRun {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Appends to the job's log files instead of keeping the output, and runs less urgently, as upstream does. Of stderr
   * the last is kept all the same.
   */
  readonly logged?: boolean;
  /** Most bytes kept of each stream. */
  readonly keep?: number;
  readonly signal: AbortSignal;
}

const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
const NICENESS = "5";
/** Bytes from the end of a log that go into the error of a failed script. */
const LAST_BYTES = 4096;

/** The jobs whose scripts are run, as the last apply named them. */
export function jobsOf(spec: ApplySpec | undefined): readonly string[] {
  if (spec === undefined || !hasJobs(spec)) return [];
  return (spec.job?.templates ?? []).map(({ name }) => checkedName(name, "job"));
}

/** A name is one part of a path and nothing else. */
export function checkedName(name: string, what: string): string {
  if (/^[\w.+-]{1,255}$/.test(name) && name !== "." && name !== "..") return name;
  throw BadRequest({ why: `the ${what} must be named, without a path` });
}

export const scriptPath = ({ job, script }: JobScript, { paths }: ScriptServices): string =>
  join(paths.jobs, job, "bin", script);

export const hasScript = (script: JobScript, services: ScriptServices): Promise<boolean> =>
  exists(scriptPath(script, services));

export const leftoverTools = ({ paths, clock, random, log }: ScriptServices): LeftoverTools => ({
  directory: join(paths.boshDir, "running-scripts"),
  clock,
  random,
  log,
});

/** Runs one script of one job, alone: a copy that an agent before this one left running is ended first. */
export async function runJobScript(
  script: JobScript,
  run: ScriptRun,
  services: ScriptServices,
): Promise<GroupEnd> {
  const { clock } = services;
  const path = scriptPath(script, services);
  const tools = leftoverTools(services);
  const name = `${script.job}.${script.script}`;
  const why = await whyNotRun(path);
  if (why !== undefined) throw CannotRun({ program: path, why });
  await endLeftover(name, tools);
  const files = run.logged ? await logFiles(script, services) : undefined;
  const before = (await files?.stderr.stat())?.size ?? 0;
  let noted: NotedRun | undefined;
  try {
    const running = await noteRun(name, tools);
    noted = running;
    const [program, args] = run.logged
      ? ["nice", ["-n", NICENESS, path, ...(run.args ?? [])]]
      : [path, run.args ?? []];
    const end = await runGroup({
      program,
      args,
      env: { ...inherited(), ...run.env, ...running.env, PATH },
      ...(files !== undefined && { output: { stdout: files.stdout.fd, stderr: files.stderr.fd } }),
      ...(run.keep !== undefined && { keep: run.keep }),
      signal: run.signal,
      clock,
      onStart: running.begun,
    });
    return files === undefined ? end : { ...end, stderr: await endOf(files.stderr, before) };
  } finally {
    await files?.stdout.close();
    await files?.stderr.close();
    await noted?.over();
  }
}

/** Scripts see the agent's environment, as upstream's do, but not what was meant for the agent's own runtime. */
const inherited = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) =>
      value === undefined || /^(NODE_|SLIPWAY_)/.test(key) ? [] : [[key, value]],
    ),
  );

async function logFiles({ job, script }: JobScript, { paths }: ScriptServices) {
  const directory = join(paths.sysLog, job);
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const stdout = await appended(join(directory, `${script}.stdout.log`));
  try {
    return { stdout, stderr: await appended(join(directory, `${script}.stderr.log`)) };
  } catch (error) {
    await stdout.close();
    throw error;
  }
}

/** Jobs own this directory: a link of theirs must not lead root elsewhere, and a pipe must not stop it. */
async function appended(path: string): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o640);
  } catch (cause) {
    throw LogNotWritable({ path }, { cause });
  }
}

/** The last of what was appended since the file had this size. */
async function endOf(file: FileHandle, since: number): Promise<string> {
  const { size } = await file.stat();
  const from = Math.max(Math.min(since, size), size - LAST_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  return buffer.toString("utf8", 0, bytesRead);
}
