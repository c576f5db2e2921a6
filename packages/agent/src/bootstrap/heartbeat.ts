import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { HEARTBEAT_SECONDS, type Heartbeat } from "@slipway/protocol/agent/heartbeat";
import type { AgentServices } from "../services.ts";
import { writeHealth } from "../supervisor/health.ts";

type Parts = Pick<AgentServices, "spec" | "supervisor" | "platform" | "paths" | "publish" | "clock" | "log">;

export async function heartbeatOf(parts: Omit<Parts, "publish" | "clock" | "log">): Promise<Heartbeat> {
  const spec = await parts.spec.load();
  // Unreachable is a state too, and upstream's monitor wants to see it.
  const jobs = await parts.supervisor.status().catch(() => undefined);
  const vitals = await parts.platform.system.vitals({
    ephemeral: parts.paths.data,
    persistent: parts.paths.store,
  });
  return {
    deployment: spec?.deployment ?? null,
    job: spec?.job?.name ?? null,
    index: spec?.index ?? null,
    job_state: jobs?.state ?? "unknown",
    node_id: spec?.id ?? "",
    number_of_processes: jobs?.processes.length ?? null,
    vitals,
  };
}

/**
 * One heartbeat now and one every 30 seconds until the signal. One that cannot be sent is said once and left out:
 * upstream then ends the agent, which helps nobody while the bus is away.
 */
export async function beat(parts: Parts, signal: AbortSignal): Promise<void> {
  let failing = false;
  while (!signal.aborted) {
    try {
      const heartbeat = await heartbeatOf(parts);
      await writeHealth(parts.paths, heartbeat.job_state);
      await parts.publish("heartbeat", heartbeat);
      if (failing) parts.log.info("heartbeats are sent again");
      failing = false;
    } catch (error) {
      if (!failing) parts.log.warn(`heartbeats cannot be sent: ${messageTrail(error)}`);
      failing = true;
    }
    await pause(parts.clock, signal);
  }
}

const pause = (clock: Clock, signal: AbortSignal) =>
  clock.sleep(HEARTBEAT_SECONDS * 1000, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
