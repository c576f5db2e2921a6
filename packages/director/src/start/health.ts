import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { logSink } from "../health/log-sink.ts";
import { HealthMonitor, type HealthMonitorOptions } from "../health/monitor.ts";
import { healthSettings } from "../health/settings.ts";
import { webhookSink } from "../health/webhook-sink.ts";
import { certificateOf } from "../variables/open.ts";

/** Opens the health monitor; undefined if the configuration disables it. */
export async function openHealth(
  health: DirectorConfig["health"] = {},
  parts: Omit<HealthMonitorOptions, "settings" | "sinks">,
  log: (line: string) => void,
): Promise<HealthMonitor | undefined> {
  if (health.enabled === false) return undefined;
  const { webhook } = health;
  const sinks = [logSink(log)];
  if (webhook !== undefined)
    sinks.push(
      webhookSink({
        url: webhook.url,
        ca: await certificateOf("health.webhook.ca", webhook.ca),
        authorization: webhook.authorization,
        clock: parts.clock,
      }),
    );
  return new HealthMonitor({ ...parts, settings: healthSettings(health), sinks });
}
