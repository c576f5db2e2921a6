import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Limits } from "./judge.ts";
import type { Guard } from "./resurrect.ts";

export interface HealthSettings {
  readonly limits: Limits;
  readonly guard: Guard;
  /** Time for which an instance that was down counts for the guard. */
  readonly windowMs: number;
  readonly atOnce: number;
  /** True if VMs are replaced; otherwise their state is only reported. */
  readonly resurrects: boolean;
}

/** Returns the settings with the defaults of upstream's health monitor, as far as it has them. */
export function healthSettings(given: DirectorConfig["health"] = {}): HealthSettings {
  const { resurrection = {} } = given;
  return {
    limits: {
      intervalMs: (given.interval_s ?? 30) * 1000,
      silentMs: (given.unresponsive_after_s ?? 60) * 1000,
    },
    guard: {
      minimumDown: resurrection.minimum_down ?? 5,
      percentDown: resurrection.percent_down ?? 20,
      fleetMinimum: resurrection.fleet_minimum_down ?? 3,
      fleetPercent: resurrection.fleet_percent_down ?? 50,
    },
    windowMs: (resurrection.window_s ?? 600) * 1000,
    atOnce: given.at_once ?? 64,
    resurrects: resurrection.enabled ?? true,
  };
}
