import { join } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import type { AgentServices, Supervisor } from "../services.ts";
import { writeState } from "../state/state-file.ts";

/** `health.json`, which jobs and people on the VM read. */
export const writeHealth = (paths: AgentServices["paths"], state: string): Promise<void> =>
  writeState(join(paths.instanceDir, "health.json"), JSON.stringify({ state }), 0o644);

/** Writes the health file right after a start, stop or unmonitor, as upstream does, not with the next heartbeat. */
export function reportingHealth(
  inner: Supervisor,
  { paths, log }: Pick<AgentServices, "paths" | "log">,
): Supervisor {
  const then = async (work: Promise<void>): Promise<void> => {
    await work;
    try {
      await writeHealth(paths, (await inner.status()).state);
    } catch (error) {
      log.warn(`health.json is not written: ${messageTrail(error)}`);
    }
  };
  return {
    status: (how) => inner.status(how),
    watch: (files, signal) => inner.watch(files, signal),
    start: (signal) => then(inner.start(signal)),
    stop: (how, signal) => then(inner.stop(how, signal)),
    unmonitor: (signal) => then(inner.unmonitor(signal)),
  };
}
