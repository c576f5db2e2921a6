import { access, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Supervisor } from "../services.ts";

/**
 * The supervisor of a VM without jobs: it runs, unless it was told to stop. `problem` says what keeps the VM from
 * being what it should be, such as a disk that did not come back.
 */
export function noJobsSupervisor(stoppedMarker: string, problem: () => string | undefined): Supervisor {
  const isStopped = () =>
    access(stoppedMarker).then(
      () => true,
      () => false,
    );
  return {
    status: async () => {
      const state = (await isStopped()) ? "stopped" : problem() === undefined ? "running" : "failing";
      return { state, processes: [] };
    },
    start: () => rm(stoppedMarker, { force: true }),
    stop: async () => {
      await mkdir(dirname(stoppedMarker), { recursive: true });
      await writeFile(stoppedMarker, "");
    },
  };
}
