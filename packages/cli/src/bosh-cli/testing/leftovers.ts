import { existsSync } from "node:fs";
import { stopAll } from "@slipway/cpi-local/power";
import { stopLeftDatabase } from "@slipway/director/store/embedded/left-behind";
import { systemClock } from "@slipway/kernel/clock";
import { PROGRAMS } from "./requirements.ts";

/** Ends what a failed story has left running below a directory: VMs, and the database of a Director that was killed. */
export async function endLeftovers(stateDir: string, cloudDir: string): Promise<void> {
  await stopVms(cloudDir);
  await stopLeftDatabase(stateDir, systemClock);
}

export async function stopVms(cloudDir: string): Promise<void> {
  if (existsSync(cloudDir)) await stopAll({ dir: cloudDir, agent: PROGRAMS.agent });
}
