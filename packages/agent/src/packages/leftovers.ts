import { readlink } from "node:fs/promises";
import { markedProcesses, signalProcess } from "../scripts/marked.ts";
import type { AgentServices } from "../services.ts";

const PATIENCE_MS = 10_000;
const POLL_MS = 20;

/**
 * Ends what packaging scripts of an agent that was killed have left running: they would write into the directories of
 * the next one. A process is theirs when its environment says that it compiles here.
 */
export async function endLeftovers({ paths, clock, log }: AgentServices, signal: AbortSignal): Promise<void> {
  const mark = `BOSH_COMPILE_TARGET=${paths.compile}/`;
  const deadline = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const found = await compilingHere(mark);
    if (found.length === 0) return;
    log.warn(`processes of an earlier compilation are ended: ${found.join(", ")}`);
    for (const pid of found) signalProcess(pid, "SIGKILL");
    if (clock.monotonic() > deadline) return;
    await clock.sleep(POLL_MS, signal);
  }
}

/** The same path in another sandbox is another directory. */
async function compilingHere(mark: string): Promise<readonly number[]> {
  const own = await mounts("self");
  const found: number[] = [];
  for (const pid of await markedProcesses(mark)) if ((await mounts(pid)) === own) found.push(pid);
  return found;
}

const mounts = (pid: number | "self"): Promise<string> => readlink(`/proc/${pid}/ns/mnt`).catch(() => "");
