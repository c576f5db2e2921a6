import { access, constants, open } from "node:fs/promises";

/**
 * Node.js raises its own limit of open files to the highest that it may have, and whoever it starts inherits that:
 * programs that close or count all files they could have open take minutes then. The usual limit, which they get from
 * upstream's agent and monit, is 1024; they may raise it up to the same height.
 */
const SCRIPT = 'ulimit -S -n 1024 2>/dev/null; exec "$@"';

/** The program and arguments to start instead. */
export const usualLimits = (
  program: string,
  args: readonly string[],
): readonly [program: string, args: readonly string[]] => ["/bin/sh", ["-c", SCRIPT, "sh", program, ...args]];

const FIRST_LINE = 256;

/** Returns why a file cannot be run, as far as that is visible. The shell would only give an exit code. */
export async function whyNotRun(path: string): Promise<string | undefined> {
  if (!(await isThere(path))) return "it is not there";
  if (!(await isThere(path, constants.X_OK))) return "it is not executable";
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE), 0, FIRST_LINE, 0);
    const interpreter = /^#![ \t]*([^\s\0]+)/.exec(buffer.toString("utf8", 0, bytesRead))?.[1];
    if (interpreter === undefined || (await isThere(interpreter, constants.X_OK))) return undefined;
    return `${interpreter}, which its first line names, is not there or not executable`;
  } finally {
    await file.close();
  }
}

const isThere = (path: string, mode = constants.F_OK): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );
