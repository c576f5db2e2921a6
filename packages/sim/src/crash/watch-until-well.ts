import type { HealthMonitorOptions } from "@slipway/director/health/monitor";
import { HealthMonitor } from "@slipway/director/health/monitor";
import { healthSettings } from "@slipway/director/health/settings";
import type { Store } from "@slipway/director/store/open";
import type { TaskRunner } from "@slipway/director/tasks/runner";
import { systemClock } from "@slipway/kernel/clock";

/** Parts of the world that a monitor needs. Its questions change nothing, and pass no points. */
export type MonitorParts = Pick<HealthMonitorOptions, "agents" | "channel" | "clock" | "random" | "onError">;

/**
 * Limits of a scale in which a minute is a quarter of a second. Living agents answer at once, however busy the machine
 * is.
 */
const LIMITS = { intervalMs: 120, silentMs: 240 };
const LONGEST_MS = 120_000;

/**
 * The Director's monitor watches until all are well and nothing is left of a resurrection. What it asks for is queued and
 * noted before the Director looks for work: it then takes the same way each time.
 */
export async function watchUntilWell(store: Store, director: TaskRunner, parts: MonitorParts): Promise<void> {
  const settings = { ...healthSettings(), limits: LIMITS };
  const monitor = new HealthMonitor({ ...parts, db: store.db, tasks: director, settings, sinks: [] });
  const seen = () => monitor.snapshot()?.instances ?? [];
  const isWell = () =>
    seen().length > 0 &&
    seen().every(({ watched, verdict }) => verdict.status === "healthy" && !watched.resurrection);
  const until = async (is: () => boolean) => {
    const begun = systemClock.monotonic();
    while (!is()) {
      if (systemClock.monotonic() - begun > LONGEST_MS)
        throw new Error(`the monitor has not healed: ${seen().map(({ verdict }) => verdict.status)}`);
      await systemClock.sleep(5);
    }
  };
  monitor.start();
  try {
    await until(() => isWell() || (monitor.snapshot()?.resurrections ?? 0) > 0);
    director.start();
    await until(isWell);
  } finally {
    await monitor.stop();
  }
}
