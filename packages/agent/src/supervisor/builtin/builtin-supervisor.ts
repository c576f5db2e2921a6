import { messageTrail } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import { ownIdentity } from "@slipway/kernel/process-identity";
import type { AgentServices, JobState, MonitFile, ServiceState } from "../../services.ts";
import { alertOf } from "../alerts.ts";
import { PendingTimedOut, StopErrored, StopTimedOut } from "../errors.ts";
import { jobOf, setMarker, writeMonitDirectory } from "../job-files.ts";
import { problemText } from "../last-lines.ts";
import { type LoadedServices, loadMonitDirectory } from "../load.ts";
import type { RunningSupervisor } from "../supervisor.ts";
import { SupervisorEngine } from "./engine.ts";
import { fileSupervisorState } from "./state.ts";
import { isUp, stateOf, type WatchedService } from "./watched.ts";

export interface BuiltinParts extends Pick<AgentServices, "paths" | "clock" | "random" | "log" | "publish"> {
  /** Addresses of the VM, for the title of an alert. */
  readonly ips: () => readonly string[];
  /** Returns what keeps the VM from being ready, such as a disk that did not come back. */
  readonly problem: () => string | undefined;
  /** How often processes are looked at, and how long a cycle of monit's rules is. */
  readonly pollMs?: number;
  readonly cycleMs?: number;
}

const STOP_BUDGET_MS = 5 * 60_000;
const GROUP = "vcap";

/** Runs the jobs of a VM itself, by their monit files. */
export class BuiltinSupervisor implements RunningSupervisor {
  readonly #parts: BuiltinParts;
  readonly #engine: SupervisorEngine;
  #loaded: LoadedServices = { services: [], warnings: [] };

  constructor(parts: BuiltinParts) {
    this.#parts = parts;
    const { paths } = parts;
    this.#engine = new SupervisorEngine({
      ...parts,
      pollMs: parts.pollMs ?? 500,
      // Of the monitrc of upstream's stemcells: 10 seconds.
      cycleMs: parts.cycleMs ?? 10_000,
      state: fileSupervisorState(paths.supervisorState, ownIdentity(), parts),
      logDirectory: paths.sysLog,
      etc: (file) => paths.system("etc", file),
      tell: (event) => {
        const alert = alertOf(event, parts.ips());
        if (alert === undefined) return;
        parts.publish("alert", alert).catch((error: unknown) => {
          parts.log.warn(`an alert could not be sent (${alert.title}): ${messageTrail(error)}`);
        });
      },
    });
  }

  /** Takes over what the process before this one left, or what a reboot ended. */
  async open(): Promise<void> {
    const stopped = await this.#isStopped();
    try {
      this.#take(await loadMonitDirectory(this.#parts.paths.monitJobs));
    } catch (error) {
      // They were taken once; the next start says again what is wrong.
      this.#parts.log.error(`jobs are not watched: ${messageTrail(error)}`);
    }
    await this.#engine.open(this.#loaded.services, stopped);
  }

  async close(): Promise<void> {
    await this.#engine.close();
  }

  async status(how = { problems: false }): Promise<JobState> {
    this.#engine.look();
    const members = this.#members();
    return {
      state: await this.#jobState(members),
      processes: await Promise.all(
        members.map(async (one) => {
          const problem = how.problems ? await this.#problem(one) : undefined;
          return { ...this.#processState(one), ...(problem !== undefined && { problem }) };
        }),
      ),
      ...(this.#loaded.warnings.length > 0 && {
        warnings: this.#loaded.warnings.map(({ file, line, text }) => `${file}, line ${line}: ${text}`),
      }),
    };
  }

  async watch(files: readonly MonitFile[]): Promise<void> {
    await writeMonitDirectory(files, this.#parts.paths.monitJobs);
    this.#take(await loadMonitDirectory(this.#parts.paths.monitJobs));
    await this.#engine.watch(this.#loaded.services);
  }

  async start(): Promise<void> {
    // Files that could not be read before must be named now: nothing would be started.
    this.#take(await loadMonitDirectory(this.#parts.paths.monitJobs));
    await this.#engine.watch(this.#loaded.services);
    await setMarker(this.#parts.paths.stoppedMarker, false);
    await this.#engine.want("run", () => true);
  }

  async stop({ wait }: { readonly wait: boolean }, signal: AbortSignal): Promise<void> {
    const { clock, paths } = this.#parts;
    const deadline = clock.monotonic() + STOP_BUDGET_MS;
    await this.#engine.want("stop", inGroup);
    if (wait) {
      const settled = (
        pending: (one: WatchedService) => boolean,
        error: (names: readonly string[]) => Error,
      ) => this.#settled(pending, error, deadline, signal);
      await settled(
        (one) => one.busy?.doing === "starting",
        (services) => PendingTimedOut({ services }),
      );
      await settled(
        (one) => one.service.kind === "process" && !one.stopFailed && (isUp(one) || one.busy !== undefined),
        (services) => StopTimedOut({ services }),
      );
      const errored = this.#members().filter((one) => one.stopFailed && isUp(one));
      if (errored.length > 0)
        throw StopErrored({
          services: errored.map((one) => one.service.name),
          why: errored.flatMap((one) => [...one.problems.values()]),
        });
    }
    // A caller that hears "stopped" finds the jobs stopped after a crash, too.
    await this.#engine.save();
    await setMarker(paths.stoppedMarker, true);
  }

  async unmonitor(): Promise<void> {
    await this.#engine.want("none", inGroup);
  }

  async #settled(
    pending: (one: WatchedService) => boolean,
    error: (names: readonly string[]) => Error,
    deadline: number,
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      this.#engine.look();
      const names = this.#members()
        .filter(pending)
        .map((one) => one.service.name);
      if (names.length === 0) return;
      if (this.#parts.clock.monotonic() >= deadline) throw error(names);
      await this.#parts.clock.sleep(this.#parts.pollMs ?? 100, signal);
    }
  }

  #take(read: LoadedServices): void {
    const loaded = process.getuid?.() === 0 ? read : withoutOthers(read);
    const known = new Set(this.#loaded.warnings.map((one) => JSON.stringify(one)));
    for (const one of loaded.warnings)
      if (!known.has(JSON.stringify(one))) this.#parts.log.warn(`${one.file}, line ${one.line}: ${one.text}`);
    this.#loaded = loaded;
  }

  #members(): readonly WatchedService[] {
    return [...this.#engine.all.values()].filter(inGroup);
  }

  #isStopped(): Promise<boolean> {
    return exists(this.#parts.paths.stoppedMarker);
  }

  /** Upstream's order of what counts. */
  async #jobState(members: readonly WatchedService[]): Promise<JobState["state"]> {
    if (await this.#isStopped()) return "stopped";
    const states = members.map(stateOf);
    if (states.includes("starting")) return "starting";
    if (states.some((state) => state !== "running") || this.#parts.problem() !== undefined) return "failing";
    return "running";
  }

  /** A failed start or stop was written down with what the job said then; for all else it is looked up now. */
  async #problem(one: WatchedService): Promise<string | undefined> {
    const state = stateOf(one);
    if (state === "running") return undefined;
    const told = one.problems.get("existence") ?? one.problems.get("stop");
    if (told?.startsWith(`${one.service.name} of the job `)) return told;
    const why = [...one.problems.values()].join("; ") || UNSAID[state];
    return await problemText(one.service.name, jobOf(one.service.file), why, this.#parts.paths.sysLog);
  }

  #processState(one: WatchedService): ServiceState {
    const state = stateOf(one);
    const seen = one.process === undefined ? undefined : this.#engine.usageOf(one.process);
    const name = one.service.name;
    if (seen === undefined) return { name, state };
    const { usage, seconds } = seen;
    return {
      name,
      state,
      uptime: { secs: seconds },
      mem: { kb: Math.round(usage.totalKb), percent: tenth(usage.totalPercent) },
      cpu: { total: tenth(usage.totalCpu) },
    };
  }
}

/** Texts for states without a recorded problem. */
const UNSAID: Readonly<Record<Exclude<JobState["state"], "running">, string>> = {
  starting: "it has not come up yet",
  unknown: "it is not watched",
  stopped: "it was stopped",
  failing: "process is not running",
};

const tenth = (value: number) => Math.round(value * 10) / 10;
const inGroup = (one: WatchedService): boolean => one.service.groups.includes(GROUP);

/** Adds a warning for each program with a user: an agent that is not root cannot run programs as another user. */
const withoutOthers = ({ services, warnings }: LoadedServices): LoadedServices => ({
  services,
  warnings: [
    ...warnings,
    ...services.flatMap(({ file, line, name, start }) =>
      start?.uid === undefined && start?.gid === undefined
        ? []
        : [{ file, line, text: `${name} runs as the user of the agent, which is not root` }],
    ),
  ],
});
