import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Exec, ExecResult } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { fakeClock } from "@slipway/testkit/fake-clock";
import type fc from "fast-check";
import { onTestFinished } from "vitest";
import type { Log } from "../../log.ts";
import { type Paths, pathsUnder } from "../../paths.ts";
import type { SettingsReader } from "../sources/source.ts";

/** Only what can come from outside: whatever is read there is read with the parser that refuses this key. */
export const fromOutside = (given: fc.Arbitrary<unknown>) =>
  given.filter((value) => !JSON.stringify(value).includes('"__proto__"'));

export const NEVER = new AbortController().signal;

export interface Lines extends Log {
  readonly lines: string[];
}

export function lines(): Lines {
  const written: string[] = [];
  const write = (message: string) => void written.push(message);
  return { lines: written, info: write, warn: write, error: write };
}

/** A machine of the test's own: base and root directory in a place that goes away. */
export async function machine(): Promise<{ dir: string; paths: Paths }> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-agent-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const paths = pathsUnder(join(dir, "vcap"), join(dir, "root"));
  await mkdir(paths.boshDir, { recursive: true });
  await mkdir(paths.root, { recursive: true });
  return { dir, paths };
}

export interface FakeExec {
  readonly exec: Exec;
  readonly calls: string[][];
}

/** Programs by what they do; unknown ones fail as a missing program does. */
export function programs(
  known: Readonly<
    Record<string, (args: readonly string[]) => Partial<ExecResult> | Promise<Partial<ExecResult>>>
  >,
): FakeExec {
  const calls: string[][] = [];
  const exec: Exec = async (program, args) => {
    calls.push([program, ...args]);
    const run = known[program];
    if (run === undefined) throw new Error(`the program ${program} cannot be started`);
    return { program, args, code: 0, stdout: "", stderr: "", ...(await run(args)) };
  };
  return { exec, calls };
}

export async function tools() {
  const { dir, paths } = await machine();
  const log = lines();
  return {
    dir,
    paths,
    log,
    random: systemRandom,
    clock: fakeClock({ hurry: true }),
    exec: programs({}).exec,
  };
}

/** A source that says one thing after the other, the last one for ever. */
export function saying(
  name: string,
  ...texts: readonly (string | Error)[]
): SettingsReader & { asked: number } {
  const source: SettingsReader & { asked: number } = {
    name,
    asked: 0,
    read: async () => {
      const next = texts[Math.min(source.asked++, texts.length - 1)];
      if (next instanceof Error) throw next;
      return next ?? "";
    },
  };
  return source;
}

export const AGENT_ID = "4b0f6a52-7a0c-4a55-9b0e-0c1fd2a7b6aa";
export const SETTINGS = {
  agent_id: AGENT_ID,
  vm: { name: "vm-4b0f" },
  mbus: "https://mbus:canary-secret@127.0.0.1:6868",
  networks: { private: { type: "manual", ip: "10.0.0.5" } },
  disks: { system: "/dev/sda", persistent: { "vol-1": { path: "/dev/sdf" } } },
  env: { bosh: {}, persistent_disk_fs: "xfs", persistent_disk_mount_options: ["noatime"] },
} as const;
export const SETTINGS_TEXT = JSON.stringify(SETTINGS);
