import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CannotTell } from "../expect.ts";
import { type ArchiveFile, archiveOf } from "./archive.ts";
import { type CheckContext, given } from "./check.ts";
import type { Messages } from "./messages.ts";

/** A job of the release that these checks make up: its files by their paths, `monit` empty unless given. */
export interface TestJob {
  readonly name: string;
  readonly files?: Readonly<Record<string, string>>;
}

export interface TestPackage {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
}

export const sha1 = (content: string | Uint8Array): string =>
  createHash("sha1").update(content).digest("hex");

/** Long enough for slow machines; nothing is slow on purpose. */
const PATIENCE_MS = 60_000;

/** Puts content where the agent finds it by its id. */
export async function uploaded({ agent, uuid }: CheckContext, content: Buffer): Promise<string> {
  const blob_id = uuid();
  const payload = content.toString("base64");
  await agent.value("upload_blob", [{ blob_id, checksum: sha1(content), payload }]);
  return blob_id;
}

export interface SpecOptions {
  readonly packages?: readonly TestPackage[];
  /** Prefix of every name in the archive. */
  readonly prefix?: string;
  readonly version?: string;
}

/** A specification with these jobs, whose archive is uploaded. */
export async function specOf(
  context: CheckContext,
  jobs: readonly TestJob[],
  { packages = [], prefix = "", version = "v1" }: SpecOptions = {},
) {
  const files = jobs.flatMap(({ name, files = {} }): ArchiveFile[] =>
    Object.entries({ monit: "", ...files }).map(([path, content]) => ({
      path: `${name}/${path}`,
      content,
    })),
  );
  const archive = archiveOf(files, prefix);
  const digest = sha1(archive);
  const templates = jobs.map(({ name }) => ({ name, version }));
  const installed: Record<string, object> = {};
  for (const { name, files: contents } of packages) {
    const content = archiveOf(
      Object.entries(contents).map(([path, text]) => ({ path, content: text })),
      "./",
    );
    const blobstore_id = await uploaded(context, content);
    installed[name] = { name, version, sha1: sha1(content), blobstore_id };
  }
  return {
    deployment: "conformance",
    name: "api",
    id: "conformance-id",
    index: 0,
    az: "z1",
    networks: {},
    job: { name: "api", template: jobs[0]?.name ?? "", version, templates },
    packages: installed,
    configuration_hash: digest,
    rendered_templates_archive: { blobstore_id: await uploaded(context, archive), sha1: digest },
  };
}

export async function applied(
  context: CheckContext,
  jobs: readonly TestJob[],
  options: SpecOptions = {},
): Promise<Awaited<ReturnType<typeof specOf>>> {
  const spec = await specOf(context, jobs, options);
  const answer = await context.agent.value("apply", [spec]);
  if (answer !== "applied") throw new Error(`apply answered ${JSON.stringify(answer)}`);
  return spec;
}

/** No jobs any more; what later checks find is an agent that has nothing to do. */
export async function noJobs({ agent }: CheckContext): Promise<void> {
  await agent.value("stop");
  const job = { name: "none", template: "", version: "", templates: [] };
  await agent.value("apply", [{ networks: {}, configuration_hash: "none", job, packages: {} }]);
  await agent.value("start");
}

/** With these jobs applied; without any afterwards, whatever came of it. */
export async function withJobs(
  context: CheckContext,
  jobs: readonly TestJob[],
  work: (base: string) => Promise<void>,
  options: SpecOptions = {},
): Promise<void> {
  await applied(context, jobs, options);
  try {
    await work(given(context.baseDir));
  } finally {
    await noJobs(context);
  }
}

/** File in which the scripts of a job note what they have seen, and its text so far. */
export const notesPath = (base: string, job: string): string => join(base, "sys", "log", job, "notes");
export const notes = (base: string, job: string): Promise<string> =>
  readFile(notesPath(base, job), "utf8").catch(() => "");

export const script = (text: string): string => `#!/bin/bash\n${text}\n`;

/** Resolves to what the probe finds; undefined asks again. */
export async function eventually<T>(
  what: string,
  { clock }: Messages,
  probe: () => Promise<T | undefined>,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const giveUp = clock.monotonic() + withinMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (clock.monotonic() > giveUp) throw new Error(`${what}: not within ${withinMs / 1000} s`);
    await clock.sleep(50);
  }
}

export const jobState = async (agent: Messages): Promise<unknown> =>
  ((await agent.value("get_state")) as { job_state?: unknown }).job_state;

export async function reaches(agent: Messages, state: string): Promise<void> {
  await eventually(`job_state ${state}`, agent, async () =>
    (await jobState(agent)) === state ? true : undefined,
  );
}

/** A job whose process sleeps, and takes its time to end when `slow`. */
export function daemon(base: string, name: string, slow = false): TestJob {
  const pid = join(base, "sys", "run", name, `${name}.pid`);
  const ctl = join(base, "jobs", name, "bin", "ctl");
  const end = slow ? "sleep 1; exit 0" : "exit 0";
  const monit = [
    `check process ${name}`,
    `  with pidfile ${pid}`,
    `  start program "${ctl} start"`,
    `  stop program "${ctl} stop"`,
    "  group vcap",
    "",
  ];
  const loop = `trap '${end}' TERM; while :; do sleep 0.2; done`;
  const control = [
    `pidfile='${pid}'`,
    'case "$1" in',
    `start) setsid bash -c "${loop}" < /dev/null > /dev/null 2>&1 & echo $! > "$pidfile" ;;`,
    'stop) kill -TERM "$(cat "$pidfile")"; rm -f "$pidfile" ;;',
    "esac",
  ];
  return { name, files: { monit: monit.join("\n"), "bin/ctl": script(control.join("\n")) } };
}

export async function pidOf(agent: Messages, base: string, name: string): Promise<number> {
  const path = join(base, "sys", "run", name, `${name}.pid`);
  return await eventually(`a pid in ${path}`, agent, async () => {
    const pid = Number(await readFile(path, "utf8").catch(() => ""));
    return pid > 0 ? pid : undefined;
  });
}

/** Reports whether a process of this machine runs; one that is dead and not reaped does not. */
export async function runs(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return text !== "" && !/^[ZX]/.test(text.slice(text.lastIndexOf(")") + 2));
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    throw new CannotTell("the processes of the jobs cannot be reached from here");
  }
}
