import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CommandMissing, type Exec, type ExecOptions, type ExecResult } from "@slipway/kernel/exec";
import { onTestFinished } from "vitest";
import type { Log } from "../../../../log.ts";
import { type Paths, pathsUnder } from "../../../../paths.ts";

export interface ProgramCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: ExecOptions;
  /** Program and arguments in one line. */
  readonly line: string;
}

type Answer = Partial<ExecResult> | "missing" | undefined;

/** A machine under a directory of its own: its files are real, its programs are answered by the test. */
export interface TestMachine {
  readonly paths: Paths;
  readonly exec: Exec;
  readonly calls: readonly ProgramCall[];
  readonly lines: () => readonly string[];
  readonly log: Log & { readonly warnings: readonly string[] };
  write(path: string, content: string): Promise<void>;
  read(path: string): Promise<string>;
}

export async function testMachine(
  answer: (call: ProgramCall) => Answer | Promise<Answer> = () => undefined,
): Promise<TestMachine> {
  const root = await mkdtemp(join(tmpdir(), "slipway-machine-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const paths = pathsUnder(join(root, "var", "vcap"), root);
  const calls: ProgramCall[] = [];
  const warnings: string[] = [];
  return {
    paths,
    calls,
    lines: () => calls.map(({ line }) => line),
    exec: async (program, args, options = {}) => {
      const call = { program, args, options, line: [program, ...args].join(" ") };
      calls.push(call);
      const given = await answer(call);
      if (given === "missing") throw CommandMissing({ program });
      return { program, args, code: 0, stdout: "", stderr: "", ...given };
    },
    log: { info: () => {}, error: () => {}, warn: (text) => void warnings.push(text), warnings },
    write: async (path, content) => {
      await mkdir(dirname(paths.system(path)), { recursive: true });
      await writeFile(paths.system(path), content);
    },
    read: (path) => readFile(paths.system(path), "utf8"),
  };
}
