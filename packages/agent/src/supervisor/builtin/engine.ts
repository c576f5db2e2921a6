import { messageTrail } from "@slipway/kernel/errors";
import type { AgentServices } from "../../services.ts";
import type { MonitEvent } from "../alerts.ts";
import type { MonitProgram, Service } from "../monit-file/model.ts";
import { dependentsOf } from "../order.ts";
import { Cycles } from "./cycles.ts";
import { adopt, observe } from "./observe.ts";
import { ageSeconds, bootMs, type ProcessId } from "./procfs.ts";
import { ServicePrograms } from "./programs.ts";
import type { SupervisorState } from "./state.ts";
import type { ProcessUsage } from "./usage.ts";
import { backOff, type Desired, isUp, nextStep, type WatchedService, watched } from "./watched.ts";

export interface EngineParts extends Pick<AgentServices, "clock" | "random" | "log"> {
  readonly pollMs: number;
  readonly cycleMs: number;
  readonly state: SupervisorState;
  readonly logDirectory: string;
  readonly etc: (file: string) => string;
  readonly tell: (event: MonitEvent) => void;
}

/** While something starts or stops it is looked at more often. */
const BUSY_MS = 100;

/** Keeps services as they are to be: looks at their processes again and again, and starts and stops them. */
export class SupervisorEngine {
  /** Services by name, each after those it depends on. */
  readonly all = new Map<string, WatchedService>();
  readonly #parts: EngineParts;
  readonly #cycles: Cycles;
  readonly #programs: ServicePrograms;
  readonly #ending = new AbortController();
  /** The processes that were there when they were last dealt with. */
  readonly #handled = new Map<string, ProcessId | undefined>();
  readonly #upSince = new Map<string, number>();
  #wake = new AbortController();
  #saving: Promise<void> = Promise.resolve();
  #looping: Promise<void> | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#programs = new ServicePrograms(parts, {
      event: (one, event, action, text) => this.#event(one, event, action, text),
      up: (one, now) => this.#up(one, now),
      failed: (one) => this.#counted(one),
      usageOf: (process) => this.#cycles.usageOf(process),
      wake: () => this.#poke(),
    });
    this.#cycles = new Cycles(parts, {
      all: this.all,
      event: (one, event, action, text) => this.#event(one, event, action, text),
      restart: (one) => this.#restart(one),
      run: (program, one, event, text) => this.#programs.run(program, one, event, text),
      wake: () => this.#poke(),
    });
  }

  async open(services: readonly Service[], stopped: boolean): Promise<void> {
    const known = await this.#parts.state.load();
    for (const service of services) {
      const { one, had } = adopt(service, known, stopped, this.#parts.clock.now());
      this.all.set(service.name, one);
      this.#handled.set(service.name, had);
    }
    this.#looping = this.#loop();
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error("the agent is ending"));
    await this.#looping;
    await this.#saving;
  }

  /** Watches these services and no others. Keeps the state of those that stay. */
  async watch(services: readonly Service[]): Promise<void> {
    const before = new Map(this.all);
    this.all.clear();
    for (const service of services) {
      const one = before.get(service.name);
      const same = one !== undefined && JSON.stringify(one.service.target) === JSON.stringify(service.target);
      if (same) one.service = service;
      this.all.set(service.name, same ? one : watched(service, "none"));
      if (!same) this.#handled.delete(service.name);
    }
    for (const name of this.#handled.keys()) if (!this.all.has(name)) this.#handled.delete(name);
    this.#cycles.forget();
    await this.save();
  }

  /** Sets the desired state of some services. Resolves once it is on disk. */
  async want(desired: Desired, which: (one: WatchedService) => boolean): Promise<void> {
    this.look();
    for (const one of this.all.values()) {
      if (!which(one)) continue;
      // An end that came before the service was wanted is no news.
      if (one.desired !== desired) this.#handled.set(one.service.name, one.process);
      if (desired !== "run" || one.desired !== "run") one.confirmed = one.service.kind !== "process";
      if (one.service.kind !== "process" && one.desired !== desired) this.#byHand(one, desired);
      one.desired = desired;
      Object.assign(one, { bounce: false, stopFailed: false, failures: 0, notBefore: 0 });
      one.problems.clear();
      if (
        desired === "stop" &&
        isUp(one) &&
        one.service.kind === "process" &&
        one.service.stop === undefined
      ) {
        this.#parts.log.warn(`${one.service.name} goes on: its monit file has no stop program`);
        one.desired = "none";
      }
    }
    await this.save();
    this.#poke();
  }

  /** Sees which processes are there now. */
  look(): void {
    const now = this.#parts.clock.now();
    for (const one of this.all.values()) if (one.service.kind === "process") observe(one, now);
  }

  usageOf(process: ProcessId): { readonly usage: ProcessUsage; readonly seconds: number } | undefined {
    const usage = this.#cycles.usageOf(process);
    return usage && { usage, seconds: Math.floor(ageSeconds(process)) };
  }

  async #loop(): Promise<void> {
    const { clock, log, pollMs } = this.#parts;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#tick();
      } catch (error) {
        log.error(`jobs could not be looked after, which is tried again: ${messageTrail(error)}`);
      }
      const busy = [...this.all.values()].some((one) => one.busy !== undefined);
      this.#wake = new AbortController();
      const woken = AbortSignal.any([signal, this.#wake.signal]);
      await clock.sleep(busy ? Math.min(BUSY_MS, pollMs) : pollMs, woken).catch(() => undefined);
    }
  }

  #poke(): void {
    this.#wake.abort(new Error("there is something to do"));
  }

  async #tick(): Promise<void> {
    this.look();
    const now = bootMs();
    for (const one of this.all.values()) if (one.service.kind === "process") await this.#handle(one, now);
    const begun: (readonly [WatchedService, MonitProgram])[] = [];
    for (const one of this.all.values()) {
      const step = nextStep(one, this.all, now);
      const program = step === "start" ? one.service.start : one.service.stop;
      if (step === "wait" || program === undefined) continue;
      one.busy = {
        doing: step === "start" ? "starting" : "stopping",
        since: now,
        until: now + program.timeoutSeconds * 1000,
      };
      begun.push([one, program]);
    }
    // On disk before anything runs: the next agent after a crash must not run it twice.
    await this.save();
    for (const [one, program] of begun) await this.#programs.begin(one, program);
    if (begun.length > 0) await this.save();
    this.#cycles.due();
  }

  /** Deals with what has changed about the process of a service since the last time. */
  async #handle(one: WatchedService, now: number): Promise<void> {
    const { name } = one.service;
    const before = this.#handled.get(name);
    this.#handled.set(name, one.process);
    if (one.busy !== undefined) return await this.#programs.outcome(one, one.busy, now);
    if (one.process === undefined) {
      one.bounce = false;
      if (before !== undefined && one.desired === "run") this.#died(one, now);
      return;
    }
    if (one.desired !== "run") return;
    if (before !== undefined && before.pid !== one.process.pid)
      this.#event(one, "pid changed", "alert", `pid changed from ${before.pid} to ${one.process.pid}`);
    if (before === undefined || !one.confirmed) this.#up(one, now);
  }

  #up(one: WatchedService, now: number): void {
    one.busy = undefined;
    one.confirmed = true;
    one.bounce = false;
    one.problems.delete("existence");
    this.#upSince.set(one.service.name, now);
  }

  #died(one: WatchedService, now: number): void {
    const text = "process is not running";
    one.problems.set("existence", text);
    const rule = one.service.rules.find(({ test }) => test.on === "existence" && !test.exists);
    const action = rule?.action ?? { do: one.service.mode === "passive" ? "alert" : "restart" };
    this.#event(one, "does not exist", action.do, text);
    if (action.do === "restart" || action.do === "start") {
      backOff(one, now, now - (this.#upSince.get(one.service.name) ?? now));
      this.#restart(one);
      return;
    }
    one.notBefore = Number.POSITIVE_INFINITY;
    if (action.do === "exec") void this.#programs.run(action.program, one, "does not exist", text);
    if (action.do === "unmonitor") one.desired = "none";
    if (action.do === "stop") one.desired = "stop";
  }

  /** Stops a service and starts it again, and around that all that depend on it. */
  #restart(one: WatchedService): void {
    this.#counted(one);
    one.bounce = one.process !== undefined && one.service.stop !== undefined;
    const services = [...this.all.values()].map((other) => other.service);
    for (const name of dependentsOf(one.service.name, services)) {
      const other = this.all.get(name);
      if (other?.desired === "run" && other.process !== undefined && other.service.stop !== undefined)
        other.bounce = true;
    }
    this.#poke();
  }

  /** For rules that count restarts. */
  #counted(one: WatchedService): void {
    one.restarts = [...one.restarts, this.#cycles.count].slice(-100);
  }

  /** Runs the start or stop program of a service that is no process. Such programs run only on request. */
  #byHand(one: WatchedService, desired: Desired): void {
    const program = desired === "run" ? one.service.start : desired === "stop" ? one.service.stop : undefined;
    if (program !== undefined)
      void this.#programs.run(program, one, desired === "run" ? "start" : "stop", "");
  }

  #event(one: WatchedService, event: string, action: string, description: string): void {
    const { clock, random, log } = this.#parts;
    const createdAt = Math.floor(clock.now() / 1000);
    log.info(`${one.service.name}: ${event}: ${description} (${action})`);
    this.#parts.tell({
      id: `${createdAt}.${random.hex(4)}@localhost`,
      service: one.service.name,
      event,
      action,
      description,
      createdAt,
    });
  }

  /** Puts what is known on disk. One write after the other: an older one must not come last. */
  save(): Promise<void> {
    const saved = this.#saving.then(() => this.#parts.state.save(this.all.values()));
    this.#saving = saved.catch(() => undefined);
    return saved;
  }
}
