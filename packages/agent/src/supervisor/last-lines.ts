import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

const BYTES = 4096;
const LINES = 5;

/** The last lines of what a job wrote last into its directory of logs; empty when it wrote nothing. */
async function lastLines(directory: string, job: string): Promise<string> {
  try {
    const newest = await newestIn(await homeOf(directory, job));
    if (newest === undefined) return "";
    const file = await open(newest);
    try {
      const { size } = await file.stat();
      const buffer = Buffer.alloc(Math.min(size, BYTES));
      await file.read(buffer, 0, buffer.length, size - buffer.length);
      const lines = buffer
        .toString("utf8")
        .split("\n")
        .map((line) => line.trimEnd())
        .filter((line) => line !== "");
      return lines.length === 0 ? "" : `${newest}: ${lines.slice(-LINES).join(" | ").slice(-1024)}`;
    } finally {
      await file.close();
    }
  } catch {
    // What helps to explain a failure must not become one.
    return "";
  }
}

/** Returns a failure with the last log lines of its job. */
export async function withLastLines(what: string, job: string, directory: string): Promise<string> {
  const lines = await lastLines(directory, job);
  return lines === "" ? what : `${what}; ${lines}`;
}

/** Returns the reason why a process does not run, in the form of all supervisors. */
export const problemText = (service: string, job: string, why: string, directory: string): Promise<string> =>
  withLastLines(`${service} of the job ${job}: ${why}`, job, directory);

/** The name of a monit file may have a label behind the job's. */
async function homeOf(directory: string, job: string): Promise<string> {
  const names = await readdir(directory);
  const own = names.filter((name) => job === name || job.startsWith(`${name}_`));
  return join(directory, own.sort((a, b) => b.length - a.length)[0] ?? job);
}

async function newestIn(directory: string): Promise<string | undefined> {
  const entries = await readdir(directory, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/\.(gz|\d+)$/.test(entry.name));
  const aged = await Promise.all(
    files.map(async ({ name }) => ({
      path: join(directory, name),
      at: (await stat(join(directory, name))).mtimeMs,
    })),
  );
  return aged.sort((a, b) => b.at - a.at)[0]?.path;
}
