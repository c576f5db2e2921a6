/** Readings of `/proc`. All of them take the text of the file. */

export interface CpuTimes {
  readonly user: number;
  readonly sys: number;
  readonly wait: number;
  readonly total: number;
}

export interface Usage {
  readonly usedKb: number;
  readonly totalKb: number;
}

/** `/proc/stat`: ticks since boot. Guest time is already in user time. */
export function parseCpuTimes(stat: string): CpuTimes {
  const [user = 0, nice = 0, sys = 0, idle = 0, wait = 0, irq = 0, softIrq = 0, stolen = 0] =
    /^cpu [^\n]*/m.exec(stat)?.[0]?.slice(4).trim().split(/\s+/).map(Number) ?? [];
  return { user: user + nice, sys, wait, total: user + nice + sys + idle + wait + irq + softIrq + stolen };
}

/** `/proc/loadavg`: over 1, 5 and 15 minutes. */
export const parseLoad = (loadavg: string): readonly number[] =>
  loadavg.trim().split(/\s+/).slice(0, 3).map(Number);

/** `/proc/uptime`: whole seconds. */
export const parseUptime = (uptime: string): number =>
  Math.floor(Number(uptime.trim().split(/\s+/)[0] ?? 0)) || 0;

/** `/proc/meminfo`. What programs could get counts as free; old kernels do not say it, and buffers and caches stand in. */
export function parseMemory(meminfo: string): { readonly mem: Usage; readonly swap: Usage } {
  const value = (name: string) => {
    const found = new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(meminfo)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const kb = (name: string) => value(name) ?? 0;
  const available = value("MemAvailable") ?? kb("MemFree") + kb("Buffers") + kb("Cached");
  return {
    mem: { usedKb: kb("MemTotal") - available, totalKb: kb("MemTotal") },
    swap: { usedKb: kb("SwapTotal") - kb("SwapFree"), totalKb: kb("SwapTotal") },
  };
}
