import { readdir, readFile } from "node:fs/promises";

/** Processes with a variable in their environment that begins like this, but for this one. */
export async function markedProcesses(mark: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc").catch(() => [])) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    // Of another user, or gone: not ours. A dead one that nobody has reaped has none.
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (environment.split("\0").some((one) => one.startsWith(mark))) found.push(pid);
  }
  return found;
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in this moment.
  }
}
