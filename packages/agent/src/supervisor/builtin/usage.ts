import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { allProcesses, type ProcessId, type ProcessStat, residentKb } from "./procfs.ts";

/** CPU and memory of a process, without and with its descendants. */
export interface ProcessUsage {
  readonly cpu: number;
  readonly totalCpu: number;
  readonly kb: number;
  readonly totalKb: number;
  readonly percent: number;
  readonly totalPercent: number;
  readonly children: number;
  readonly threads: number;
}

const TICKS_PER_SECOND = 100;

/** Looks at all processes of the machine once; processor time is of the time since the last look. */
export class UsageReader {
  #before = new Map<string, number>();
  #at: number | undefined;

  read(wanted: readonly ProcessId[], nowMs: number): ReadonlyMap<number, ProcessUsage> {
    // A look takes milliseconds on a machine with hundreds of processes, and an agent without jobs has nothing to look for.
    if (wanted.length === 0) {
      this.#before.clear();
      this.#at = undefined;
      return new Map();
    }
    const all = allProcesses();
    const byParent = groupByParent(all);
    const elapsed = this.#at === undefined ? 0 : (nowMs - this.#at) / 1000;
    const share = (one: ProcessStat) => {
      const before = this.#before.get(`${one.pid} ${one.started}`);
      if (before === undefined || elapsed <= 0) return 0;
      return ((one.ticks - before) / TICKS_PER_SECOND / elapsed / availableParallelism()) * 100;
    };
    const { totalKb: machineKb } = memory();
    const byPid = new Map(all.map((one) => [one.pid, one]));
    const found = new Map<number, ProcessUsage>();
    for (const { pid } of wanted) {
      const own = byPid.get(pid);
      if (own === undefined) continue;
      const family = [own, ...descendants(own, byParent)];
      const kb = residentKb(pid);
      const totalKb = family.reduce((sum, one) => sum + (one === own ? kb : residentKb(one.pid)), 0);
      found.set(pid, {
        cpu: share(own),
        totalCpu: family.reduce((sum, one) => sum + share(one), 0),
        kb,
        totalKb,
        percent: (kb / machineKb) * 100,
        totalPercent: (totalKb / machineKb) * 100,
        children: family.length - 1,
        threads: own.threads,
      });
    }
    this.#before = new Map(all.map((one) => [`${one.pid} ${one.started}`, one.ticks]));
    this.#at = nowMs;
    return found;
  }
}

function groupByParent(all: readonly ProcessStat[]): Map<number, ProcessStat[]> {
  const found = new Map<number, ProcessStat[]>();
  for (const one of all) {
    const siblings = found.get(one.ppid);
    if (siblings === undefined) found.set(one.ppid, [one]);
    else siblings.push(one);
  }
  return found;
}

function descendants(of: ProcessStat, byParent: ReadonlyMap<number, readonly ProcessStat[]>): ProcessStat[] {
  const found: ProcessStat[] = [];
  const waiting = [of];
  // Parents of a running system cannot form a circle, but two readings of one may.
  const seen = new Set([of.pid]);
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop())
    for (const child of byParent.get(one.pid) ?? []) {
      if (seen.has(child.pid)) continue;
      seen.add(child.pid);
      found.push(child);
      waiting.push(child);
    }
  return found;
}

export function memory(): {
  readonly totalKb: number;
  readonly usedKb: number;
  readonly swapKb: number;
  readonly swapTotalKb: number;
} {
  const text = readFileSync("/proc/meminfo", "utf8");
  const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
  return {
    totalKb: kb("MemTotal") || 1,
    usedKb: kb("MemTotal") - kb("MemAvailable"),
    swapKb: kb("SwapTotal") - kb("SwapFree"),
    swapTotalKb: kb("SwapTotal"),
  };
}
