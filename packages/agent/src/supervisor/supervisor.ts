import type { Supervisor } from "../services.ts";

/** A supervisor with a life: it is opened once the disks are there, and closed with the agent. Jobs go on. */
export interface RunningSupervisor extends Supervisor {
  open(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
