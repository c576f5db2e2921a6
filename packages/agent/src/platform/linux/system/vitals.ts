import { readFile, realpath, statfs } from "node:fs/promises";
import type { Vitals } from "@slipway/protocol/agent/heartbeat";
import type { Paths } from "../../../paths.ts";
import { type MountEntry, mountAt, parseMountLine } from "../disks/mounts.ts";
import { type CpuTimes, parseCpuTimes, parseLoad, parseMemory, parseUptime, type Usage } from "./proc.ts";

interface FileSystemUse {
  readonly blocks: number;
  readonly bfree: number;
  readonly files: number;
  readonly ffree: number;
}

type StatFs = (path: string) => Promise<FileSystemUse>;
type DiskVitals = NonNullable<Vitals["disk"]["system"]>;

type VitalsReader = (mountPoints: {
  readonly ephemeral: string;
  readonly persistent: string;
}) => Promise<Vitals>;

const BOOT: CpuTimes = { user: 0, sys: 0, wait: 0, total: 0 };
/** Fewer ticks than this say nothing about the processor: two readings in a row, as when a heartbeat meets get_state. */
const FEWEST_TICKS = 20;

/** Reads the machine's load. The processor's is of the time since the last reading, at first since boot. */
export function vitalsReader(paths: Paths, stat: StatFs = statfs): VitalsReader {
  let before = BOOT;
  let cpu = cpuVitals(BOOT, BOOT);
  return async ({ ephemeral, persistent }) => {
    const read = (...file: string[]) => readFile(paths.system("proc", ...file), "utf8");
    const [stats, load, meminfo, uptime] = await Promise.all(
      ["stat", "loadavg", "meminfo", "uptime"].map((file) => read(file)),
    );
    const now = parseCpuTimes(stats ?? "");
    // The ticks of a paused and resumed machine may go backwards.
    if (now.total < before.total) before = BOOT;
    if (now.total - before.total >= FEWEST_TICKS) {
      cpu = cpuVitals(before, now);
      before = now;
    }
    const memory = parseMemory(meminfo ?? "");
    const table = (await read("self", "mountinfo")).split("\n").flatMap((line) => parseMountLine(line) ?? []);
    const data = await diskVitals(ephemeral, table, stat);
    const store = await diskVitals(persistent, table, stat);
    return {
      cpu,
      load: parseLoad(load ?? "").map((value) => value.toFixed(2)),
      mem: memoryVitals(memory.mem),
      swap: memoryVitals(memory.swap),
      uptime: { secs: parseUptime(uptime ?? "") },
      disk: {
        system: usage(await stat(paths.root)),
        ...(data !== undefined && { ephemeral: data }),
        ...(store !== undefined && { persistent: store }),
      },
    };
  };
}

function cpuVitals(before: CpuTimes, now: CpuTimes): Vitals["cpu"] {
  const share = (key: "user" | "sys" | "wait") =>
    percent(now[key] - before[key], now.total - before.total).toFixed(1);
  return { sys: share("sys"), user: share("user"), wait: share("wait") };
}

const memoryVitals = ({ usedKb, totalKb }: Usage) => ({
  kb: String(usedKb),
  percent: percent(usedKb, totalKb).toFixed(0),
});

/** Reads the usage of a mount. Undefined if nothing is mounted: the numbers would be those of the disk below. */
async function diskVitals(
  path: string,
  table: readonly MountEntry[],
  stat: StatFs,
): Promise<DiskVitals | undefined> {
  const mount = mountAt(table, path) ?? mountAt(table, await realpath(path).catch(() => path));
  if (mount === undefined) return undefined;
  // It may be unmounted in this moment, or its device gone.
  const used = await stat(path).then(usage, () => undefined);
  return used !== undefined && mount.gaveUp ? { ...used, read_only: true } : used;
}

const usage = ({ blocks, bfree, files, ffree }: FileSystemUse): DiskVitals => ({
  percent: percent(blocks - bfree, blocks).toFixed(0),
  inode_percent: percent(files - ffree, files).toFixed(0),
});

/** Never below zero: counters of one reading are not taken in one moment. */
const percent = (part: number, total: number) => (total <= 0 ? 0 : Math.max(0, (part / total) * 100));
