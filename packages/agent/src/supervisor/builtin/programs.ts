import { hostname } from "node:os";
import { jobOf } from "../job-files.ts";
import { withLastLines } from "../last-lines.ts";
import type { MonitProgram } from "../monit-file/model.ts";
import type { EngineParts } from "./engine.ts";
import { endGroup, launch, type ProgramEnd } from "./launch.ts";
import { isAlive, type ProcessId } from "./procfs.ts";
import type { ProcessUsage } from "./usage.ts";
import { type Busy, backOff, type WatchedService } from "./watched.ts";

export interface ProgramHooks {
  readonly event: (one: WatchedService, event: string, action: string, text: string) => void;
  readonly up: (one: WatchedService, now: number) => void;
  readonly failed: (one: WatchedService) => void;
  readonly usageOf: (process: ProcessId) => ProcessUsage | undefined;
  readonly wake: () => void;
}

/** Runs start and stop programs, and judges what came of them. */
export class ServicePrograms {
  readonly #parts: EngineParts;
  readonly #hooks: ProgramHooks;
  readonly #exits = new Map<string, ProgramEnd>();

  constructor(parts: EngineParts, hooks: ProgramHooks) {
    this.#parts = parts;
    this.#hooks = hooks;
  }

  /** Checks whether a start or stop program has had its effect. */
  async outcome(one: WatchedService, busy: Busy, now: number): Promise<void> {
    const exit = this.#exits.get(one.service.name);
    const running = busy.program !== undefined && exit === undefined && isAlive(busy.program);
    if (busy.doing === "starting") {
      if (one.process !== undefined) return this.#hooks.up(one, now);
      const failed = exit !== undefined && exit.code !== 0;
      if (failed)
        return await this.#notStarted(one, exit.error ?? `its start program ended with ${exit.code}`, now);
      if (now < busy.until) return;
      const seconds = Math.round((now - busy.since) / 1000);
      const why = `no process after ${seconds} s${running ? "; its start program still runs" : ""}`;
      if (!running) return await this.#notStarted(one, why, now);
      if (!one.problems.has("existence")) await this.#complain(one, "start", why);
      // One that hangs gets its time once more: monit would run another beside it.
      if (one.desired !== "run" || now >= busy.until + (busy.until - busy.since)) this.#end(one, busy);
      return;
    }
    if (one.process === undefined) {
      // It may yet remove the pidfile, and must not remove that of the next process.
      if (running && now < busy.until) return;
      one.busy = undefined;
      one.bounce = false;
      one.confirmed = one.desired === "stop" ? false : one.confirmed;
      return;
    }
    const failed = exit !== undefined && exit.code !== 0;
    if (now < busy.until && !(failed && exit.code === undefined)) return;
    if (running && busy.program !== undefined) endGroup(busy.program, "SIGKILL");
    const ended =
      exit?.error ??
      (exit === undefined ? "its stop program does not end" : `its stop program ended with ${exit.code}`);
    await this.#complain(one, "stop", `process ${one.process.pid} still runs; ${ended}`);
    one.busy = undefined;
    one.stopFailed = true;
    one.bounce = false;
  }

  async #notStarted(one: WatchedService, why: string, now: number): Promise<void> {
    one.busy = undefined;
    backOff(one, now, 0);
    one.notBefore = Math.max(one.notBefore, now + 1000);
    this.#hooks.failed(one);
    await this.#complain(one, "start", why);
  }

  /** Says what went wrong with a start or stop, with the last words of the job. */
  async #complain(one: WatchedService, doing: "start" | "stop", why: string): Promise<void> {
    const job = jobOf(one.service.file);
    const failure = `${one.service.name} of the job ${job} failed to ${doing}: ${why}`;
    const text = await withLastLines(failure, job, this.#parts.logDirectory);
    one.problems.set(doing === "start" ? "existence" : "stop", text);
    this.#parts.log.error(text);
    this.#hooks.event(one, "execution failed", "alert", text);
  }

  async begin(one: WatchedService, program: MonitProgram): Promise<void> {
    this.#exits.delete(one.service.name);
    const doing = one.busy?.doing === "stopping" ? "stop" : "start";
    const { id, ended } = await launch(
      program,
      this.#told(one, doing, `${doing} of ${one.service.name}`),
      this.#parts.etc,
    );
    if (one.busy !== undefined && id !== undefined) one.busy = { ...one.busy, program: id };
    void ended.then((how) => {
      this.#exits.set(one.service.name, how);
      this.#hooks.wake();
    });
  }

  async run(program: MonitProgram, one: WatchedService, event: string, text: string): Promise<void> {
    const { ended } = await launch(program, this.#told(one, event, text), this.#parts.etc);
    const { error } = await ended;
    if (error !== undefined)
      this.#hooks.event(one, "execution failed", "alert", `${program.argv[0]}: ${error}`);
  }

  #end(one: WatchedService, busy: Busy): void {
    if (busy.program !== undefined) endGroup(busy.program, busy.ended === true ? "SIGKILL" : "SIGTERM");
    one.busy = { ...busy, ended: true };
  }

  #told(one: WatchedService, event: string, text: string): Record<string, string> {
    const usage = one.process === undefined ? undefined : this.#hooks.usageOf(one.process);
    return {
      MONIT_DATE: new Date(this.#parts.clock.now()).toUTCString(),
      MONIT_HOST: hostname(),
      MONIT_SERVICE: one.service.name,
      MONIT_EVENT: event,
      MONIT_DESCRIPTION: text,
      MONIT_PROCESS_PID: String(one.process?.pid ?? 0),
      MONIT_PROCESS_MEMORY: String(Math.round(usage?.kb ?? 0)),
      MONIT_PROCESS_CHILDREN: String(usage?.children ?? 0),
      MONIT_PROCESS_CPU_PERCENT: (usage?.cpu ?? 0).toFixed(1),
    };
  }
}
