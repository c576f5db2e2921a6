import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { expect, onTestFinished } from "vitest";
import type { MonitFile } from "../../services.ts";
import { lines, machine } from "../../settings/testing/settings-lab.ts";
import { BuiltinSupervisor } from "../builtin/builtin-supervisor.ts";
import { allProcesses, commandLine, readStat } from "../builtin/procfs.ts";

export const NEVER = new AbortController().signal;

/**
 * A program that runs until it is ended, and writes its pid where it is told. One that ignores SIGTERM does so before its
 * pid is known; one that forks away has ended by then.
 */
const CTL = `#!/bin/sh
dir="$1"; name="$2"; echo "$3 $name" >> "$dir/calls"; env > "$dir/$name.env"
case "$3" in
  start) sh -c 'while :; do sleep 0.3; done' "$dir" "$name" & echo $! > "$dir/$name.pid"; echo "started $name" >> "$dir/log/$name/$name.log" ;;
  stop) kill "$(cat "$dir/$name.pid")" 2>/dev/null; rm -f "$dir/$name.pid" ;;
  stubborn) trap '' TERM; (while :; do sleep 0.1; done) & echo $! > "$dir/$name.pid" ;;
  fork-away) sh -c 'echo $$ > "$0/$1.gone"; sleep 4000 & echo $! > "$0/child.pid"' "$dir" "$name"; mv "$dir/$name.gone" "$dir/$name.pid" ;;
  fail) echo "cannot open the door" >> "$dir/log/$name/$name.log"; exit 7 ;;
  hang) while :; do sleep 0.3; done ;;
  nothing) ;;
esac
`;

export interface SentAlert {
  readonly severity: number;
  readonly title: string;
  readonly summary: string;
}

/** A VM's directories, jobs with one program for all they do, and supervisors over them. */
export async function jobLab() {
  const { dir, paths } = await machine();
  const ctl = join(dir, "ctl");
  await writeFile(ctl, CTL);
  await chmod(ctl, 0o755);
  await mkdir(paths.sysLog, { recursive: true });
  const log = lines();
  const sent: SentAlert[] = [];
  const made: BuiltinSupervisor[] = [];
  const names = new Set<string>();
  const pid = async (name: string): Promise<number | undefined> => {
    const text = await readFile(join(dir, `${name}.pid`), "utf8").catch(() => "");
    return Number(text.trim()) || undefined;
  };
  const end = async (name: string) => {
    const found = await pid(name);
    if (found === undefined) return;
    kill(found, "SIGKILL");
    await expect.poll(() => lives(found)).toBe(false);
  };
  onTestFinished(async () => {
    for (const one of made) await one.close();
    // What still runs would write into a directory that is being removed.
    const programs = () => allProcesses().filter((one) => commandLine(one.pid).includes(dir));
    await expect
      .poll(() => {
        for (const one of programs()) kill(one.pid, "SIGKILL");
        return programs();
      })
      .toEqual([]);
    for (const name of names) await end(name);
  });
  return {
    dir,
    paths,
    log,
    sent,
    pid,
    end,
    ctl: (name: string, verb: string) => `${ctl} ${dir} ${name} ${verb}`,
    calls: async () =>
      (await readFile(join(dir, "calls"), "utf8").catch(() => "")).split("\n").filter(Boolean),
    /** A job of this text, in which `CHECK name` stands for an ordinary process. */
    job: async (job: string, text: string): Promise<MonitFile> => {
      const home = join(paths.jobs, job);
      await mkdir(home, { recursive: true });
      const whole = text.replace(
        /CHECK (\S+)( \S+)?( \S+)?/g,
        (_, name: string, start?: string, stop?: string) => {
          names.add(name);
          return `check process ${name} with pidfile ${dir}/${name}.pid
          start program "${ctl} ${dir} ${name} ${(start ?? " start").trim()}" with timeout 20 seconds
          stop program "${ctl} ${dir} ${name} ${(stop ?? " stop").trim()}" with timeout 20 seconds
          group vcap`;
        },
      );
      await writeFile(join(home, "monit"), whole);
      for (const name of names) {
        await mkdir(join(dir, "log", name), { recursive: true });
        await mkdir(join(paths.sysLog, job), { recursive: true });
      }
      return { job, path: join(home, "monit") };
    },
    supervisor: async (problem?: () => string | undefined) => {
      const supervisor = new BuiltinSupervisor({
        paths,
        clock: systemClock,
        random: systemRandom,
        log,
        publish: async (_, payload) => void sent.push(payload as SentAlert),
        ips: () => ["10.0.0.5"],
        problem: problem ?? (() => undefined),
        pollMs: 20,
        cycleMs: 50,
      });
      made.push(supervisor);
      await supervisor.open();
      return supervisor;
    },
  };
}

/** A process that ended and that nobody has asked about is no longer alive. */
export const lives = (pid: number): boolean => readStat(pid)?.dead === false;

export function kill(pid: number, signal: "SIGKILL" | "SIGTERM"): void {
  try {
    if (lives(pid)) process.kill(pid, signal);
  } catch {
    // It ended in this moment.
  }
}
