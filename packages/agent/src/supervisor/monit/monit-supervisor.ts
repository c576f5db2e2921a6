import { readFile, symlink } from "node:fs/promises";
import type { Exec } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import { usualLimits } from "../../scripts/usual-limits.ts";
import type { AgentServices, JobState, JobStateName, MonitFile, ServiceState } from "../../services.ts";
import { writeState } from "../../state/state-file.ts";
import { MonitNotReloaded, MonitRefused, PendingTimedOut, StopErrored, StopTimedOut } from "../errors.ts";
import { type JobText, jobOf, readMonitDirectory, setMarker, writeMonitDirectory } from "../job-files.ts";
import { problemText } from "../last-lines.ts";
import type { RunningSupervisor } from "../supervisor.ts";
import { AlertListener } from "./alert-listener.ts";
import { addressIn, MonitClient } from "./client.ts";
import type { MonitService } from "./status-xml.ts";

export interface MonitParts extends Pick<AgentServices, "paths" | "clock" | "random" | "log" | "publish"> {
  readonly exec: Exec;
  readonly program: string;
  readonly control: string;
  readonly ips: () => readonly string[];
  readonly problem: () => string | undefined;
  /** Port to which monit mails its alerts. The default is upstream's. */
  readonly alertPort?: number;
}

const GROUP = "vcap";
const STOP_BUDGET_MS = 5 * 60_000;
const RELOAD_SECONDS = 30;
/** The bit of a process that does not run, which is what a stop is for. */
const NOT_THERE = 0x200;
const NEVER = new AbortController().signal;

/** The stemcell's monit runs the jobs; the agent tells it which and what to do. */
export class MonitSupervisor implements RunningSupervisor {
  readonly #parts: MonitParts;
  readonly #alerts: AlertListener;
  #client: MonitClient | undefined;

  constructor(parts: MonitParts) {
    this.#parts = parts;
    this.#alerts = new AlertListener({ ...parts, port: parts.alertPort ?? 2825 });
  }

  async open(signal: AbortSignal): Promise<void> {
    const { paths, random, control } = this.#parts;
    const userFile = paths.monitUser;
    if (!(await exists(userFile))) await writeState(userFile, `vcap:${random.hex(16)}`);
    this.#client = new MonitClient({
      ...this.#parts,
      address: addressIn(await readFile(control, "utf8"), control),
      userFile,
      group: GROUP,
    });
    await this.#alerts.open();
    await this.#running(signal);
  }

  async close(): Promise<void> {
    await this.#alerts.close();
  }

  async status(how = { problems: false }): Promise<JobState> {
    const { services } = await this.#monit.status(NEVER, 1);
    const processes = services.map(processState);
    const state = await this.#jobState(processes);
    if (!how.problems) return { state, processes };
    const files = await readMonitDirectory(this.#parts.paths.monitJobs);
    const explained = processes.map(async (one, at) => {
      if (one.state === "running") return one;
      const message = services[at]?.message || `monit reports it as ${one.state}`;
      return { ...one, problem: await this.#problem(one.name, message, files) };
    });
    return { state, processes: await Promise.all(explained) };
  }

  async watch(files: readonly MonitFile[], signal: AbortSignal): Promise<void> {
    const { paths, exec, program, control, clock } = this.#parts;
    await writeMonitDirectory(files, paths.monitJobs);
    // monit ends when it cannot read its files, so that what it will not take must be found before.
    const checked = await exec(program, ["-t", "-c", control], { signal });
    if (checked.code !== 0)
      throw MonitRefused({ why: `${checked.stderr}${checked.stdout}`.trim().slice(-1000) });
    const before = (await this.#monit.status(signal)).incarnation;
    for (let second = 0; second < RELOAD_SECONDS; second++) {
      if (second % 10 === 0) await exec(program, ["-c", control, "reload"], { signal });
      await clock.sleep(1000, signal);
      const now = await this.#monit.status(signal).catch(() => undefined);
      if (now !== undefined && now.incarnation !== before) return;
    }
    throw MonitNotReloaded({ seconds: RELOAD_SECONDS });
  }

  async start(signal: AbortSignal): Promise<void> {
    for (const { name } of (await this.#monit.status(signal)).services)
      await this.#monit.act(name, "start", signal);
    await setMarker(this.#parts.paths.stoppedMarker, false);
  }

  async stop({ wait }: { readonly wait: boolean }, signal: AbortSignal): Promise<void> {
    const deadline = this.#parts.clock.monotonic() + STOP_BUDGET_MS;
    if (wait)
      await this.#settled(
        (one) => one.pending,
        (services) => PendingTimedOut({ services }),
        deadline,
        signal,
      );
    for (const { name } of (await this.#monit.status(signal)).services)
      await this.#monit.act(name, "stop", signal);
    if (wait)
      await this.#settled(
        (one) => {
          if ((one.status & ~NOT_THERE) > 0 && one.message !== "" && !one.pending)
            throw StopErrored({ services: [one.name], why: [one.message] });
          return one.monitor > 0 || one.pending;
        },
        (services) => StopTimedOut({ services }),
        deadline,
        signal,
      );
    await setMarker(this.#parts.paths.stoppedMarker, true);
  }

  async unmonitor(signal: AbortSignal): Promise<void> {
    for (const { name } of (await this.#monit.status(signal)).services)
      await this.#monit.act(name, "unmonitor", signal);
    await this.#settled(
      (one) => one.monitor > 0,
      (services) => PendingTimedOut({ services }),
      this.#parts.clock.monotonic() + STOP_BUDGET_MS,
      signal,
    );
  }

  /** monit knows nothing of jobs: whose the service is, its file says. */
  async #problem(service: string, why: string, files: readonly JobText[]): Promise<string> {
    const named = files.find(({ text }) => checkedIn(text).includes(service));
    const job = named === undefined ? service : jobOf(named.file);
    return await problemText(service, job, why, this.#parts.paths.sysLog);
  }

  get #monit(): MonitClient {
    if (this.#client === undefined) throw new Error("the supervisor is not open yet");
    return this.#client;
  }

  async #settled(
    pending: (one: MonitService) => boolean,
    error: (names: readonly string[]) => Error,
    deadline: number,
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      const names = (await this.#monit.status(signal)).services.filter(pending).map((one) => one.name);
      if (names.length === 0) return;
      if (this.#parts.clock.monotonic() >= deadline) throw error(names);
      await this.#parts.clock.sleep(1000, signal);
    }
  }

  /** Starts monit if it does not run: by runit, by systemd, or itself, whatever the stemcell has. */
  async #running(signal: AbortSignal): Promise<void> {
    if ((await this.#monit.status(signal, 1).catch(() => undefined)) !== undefined) return;
    const { exec, paths, program, control, log } = this.#parts;
    const [sv, link] = [paths.system("etc", "sv", "monit"), paths.system("etc", "service", "monit")];
    if (await exists(sv)) {
      if (!(await exists(link))) await symlink(sv, link);
      await exec("sv", ["start", "monit"], { signal });
    } else if (await exists(paths.system("run", "systemd", "system")))
      await exec("systemctl", ["start", "monit"], { signal });
    else await exec(...usualLimits(program, ["-c", control]), { signal });
    await this.#monit.status(signal, 10);
    log.info("monit was started");
  }

  async #jobState(processes: readonly ServiceState[]): Promise<JobStateName> {
    if (await exists(this.#parts.paths.stoppedMarker)) return "stopped";
    const states = processes.map((one) => one.state);
    if (states.includes("starting")) return "starting";
    if (states.some((state) => state !== "running") || this.#parts.problem() !== undefined) return "failing";
    return "running";
  }
}

/** Names of what a monit file has checked, quoted or not. */
const checkedIn = (text: string): readonly string[] =>
  [...text.matchAll(/^\s*check\s+\w+\s+"?([^\s"]+)/gim)].map(([, name = ""]) => name);

function processState(one: MonitService): ServiceState {
  const { name, uptime, memoryKb, memoryPercent, cpuPercent } = one;
  return {
    name,
    state:
      one.monitor === 0
        ? "unknown"
        : one.monitor === 2
          ? "starting"
          : one.status === 0
            ? "running"
            : "failing",
    ...(uptime !== undefined && { uptime: { secs: uptime } }),
    ...(memoryKb !== undefined && { mem: { kb: memoryKb, percent: memoryPercent ?? 0 } }),
    ...(cpuPercent !== undefined && { cpu: { total: cpuPercent } }),
  };
}
