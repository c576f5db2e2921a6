import { readdirSync, readFileSync, statSync } from "node:fs";

/** One process, as long as it lives: a pid alone is given to another process later. */
export interface ProcessId {
  readonly pid: number;
  /** Clock ticks after boot at which it began. */
  readonly started: string;
}

export interface ProcessStat extends ProcessId {
  readonly ppid: number;
  readonly dead: boolean;
  readonly ticks: number;
  readonly threads: number;
}

const TICKS_PER_SECOND = 100;

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Reads the stat line of a process, whose command name may hold blanks and parentheses. Undefined if it does not exist.
 */
export function readStat(pid: number): ProcessStat | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const number = (at: number) => Number(fields[at] ?? 0);
  return {
    pid,
    dead: ["Z", "X", "x"].includes(fields[0] ?? "X"),
    ppid: number(1),
    ticks: number(11) + number(12),
    threads: number(17),
    started: fields[19] ?? "",
  };
}

/** Resident memory; `stat` has it too, but counts of small processes there are far off on newer kernels. */
export const residentKb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1] ?? 0);

export function isAlive(one: ProcessId): boolean {
  const seen = readStat(one.pid);
  return seen !== undefined && !seen.dead && seen.started === one.started;
}

export function allProcesses(): readonly ProcessStat[] {
  const found: ProcessStat[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const one = readStat(Number(name));
    if (one !== undefined && !one.dead) found.push(one);
  }
  return found;
}

/** The words of its command line; none for a process of the kernel or one that is gone. */
export const commandLine = (pid: number): readonly string[] =>
  (read(`/proc/${pid}/cmdline`) ?? "")
    .split("\0")
    .filter((word, at, all) => at < all.length - 1 || word !== "");

const uptimeSeconds = (): number => Number((read("/proc/uptime") ?? "0").split(" ")[0]);

/** Milliseconds since the machine was started: the same for every process of the agent, and never set by hand. */
export const bootMs = (): number => uptimeSeconds() * 1000;

/** How long a process has run, in seconds. */
export const ageSeconds = (one: ProcessId): number =>
  Math.max(0, uptimeSeconds() - Number(one.started) / TICKS_PER_SECOND);

/**
 * The process a pidfile names. One that began after the file was written is another process that got the pid later:
 * whoever wrote the file cannot have known it. Two seconds are left for clocks that are not exact.
 */
export function processOfPidfile(path: string, now: number): ProcessId | undefined {
  const pid = pidIn(path);
  if (pid === undefined) return undefined;
  const seen = readStat(pid);
  if (seen === undefined || seen.dead) return undefined;
  const writtenSecondsAgo = (now - mtimeOf(path)) / 1000;
  if (ageSeconds(seen) + 2 < writtenSecondsAgo) return undefined;
  return { pid, started: seen.started };
}

export function pidIn(path: string): number | undefined {
  const pid = Number(/^\s*(\d{1,10})\b/.exec(read(path)?.slice(0, 64) ?? "")?.[1] ?? 0);
  return pid > 0 ? pid : undefined;
}

function mtimeOf(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

/** The oldest process whose command line matches, ours left out. */
export function processMatching(pattern: RegExp, own: number): ProcessId | undefined {
  let oldest: ProcessStat | undefined;
  for (const one of allProcesses()) {
    if (one.pid === own || (oldest !== undefined && Number(oldest.started) <= Number(one.started))) continue;
    if (pattern.test(commandLine(one.pid).join(" "))) oldest = one;
  }
  return oldest === undefined ? undefined : { pid: oldest.pid, started: oldest.started };
}

/** A running program of exactly these words, perhaps behind its interpreter. */
export function processRunning(argv: readonly string[], own: number): ProcessId | undefined {
  for (const { pid, started } of allProcesses()) {
    if (pid === own) continue;
    const words = commandLine(pid);
    if (words.length < argv.length || words.length > argv.length + 3) continue;
    if (argv.every((word, at) => words[words.length - argv.length + at] === word)) return { pid, started };
  }
  return undefined;
}
