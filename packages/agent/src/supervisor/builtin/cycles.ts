import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { messageTrail } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import { type CpuTimes, parseCpuTimes } from "../../platform/linux/system/proc.ts";
import type { MonitProgram } from "../monit-file/model.ts";
import type { EngineParts } from "./engine.ts";
import { launch } from "./launch.ts";
import type { ProcessId } from "./procfs.ts";
import { RuleBook, type RuleChange } from "./rules.ts";
import { type ProcessUsage, UsageReader } from "./usage.ts";
import type { WatchedService } from "./watched.ts";

/** Effects that a cycle may have on the services. */
export interface CycleHooks {
  readonly all: ReadonlyMap<string, WatchedService>;
  readonly event: (one: WatchedService, event: string, action: string, text: string) => void;
  readonly restart: (one: WatchedService) => void;
  readonly run: (program: MonitProgram, one: WatchedService, event: string, text: string) => Promise<void>;
  readonly wake: () => void;
}

/** monit's cycles: once in a while the rules of all services are tested. */
export class Cycles {
  /** Number of cycles so far. */
  count = 0;
  readonly #parts: EngineParts;
  readonly #hooks: CycleHooks;
  readonly #reader = new UsageReader();
  #usage: ReadonlyMap<number, ProcessUsage> = new Map();
  #books = new Map<string, RuleBook>();
  #ticks: CpuTimes | undefined;
  #next = 0;
  #busy = false;

  constructor(parts: EngineParts, hooks: CycleHooks) {
    this.#parts = parts;
    this.#hooks = hooks;
  }

  usageOf(process: ProcessId): ProcessUsage | undefined {
    const found = this.#usage.get(process.pid);
    if (found !== undefined) return found;
    // Younger than the last cycle, as others may be: all of them are read at once, processor time comes with the next.
    this.#usage = new Map([...new UsageReader().read(this.#processes(), 0), ...this.#usage]);
    return this.#usage.get(process.pid);
  }

  /** The rules may have changed. */
  forget(): void {
    this.#books = new Map();
  }

  /** Begins a cycle if it is due. Callers do not wait for it: a connection may take long to fail. */
  due(): void {
    const now = this.#parts.clock.monotonic();
    if (this.#busy || now < this.#next) return;
    this.#next = now + this.#parts.cycleMs;
    this.#busy = true;
    this.#cycle()
      .catch((error: unknown) => this.#parts.log.error(`rules could not be tested: ${messageTrail(error)}`))
      .finally(() => {
        this.#busy = false;
      });
  }

  async #cycle(): Promise<void> {
    this.count += 1;
    const services = [...this.#hooks.all.values()];
    this.#usage = this.#reader.read(this.#processes(), this.#parts.clock.monotonic());
    const cpu = this.#cpu();
    const tested = services.filter(
      (one) => one.desired === "run" && one.busy === undefined && this.count % one.service.everyCycles === 0,
    );
    await Promise.all(tested.map((one) => this.#test(one, cpu)));
  }

  #processes(): readonly ProcessId[] {
    return [...this.#hooks.all.values()].flatMap((one) => (one.process === undefined ? [] : [one.process]));
  }

  async #test(
    one: WatchedService,
    cpu: Record<"cpuuser" | "cpusystem" | "cpuwait", number> | undefined,
  ): Promise<void> {
    await this.#existence(one);
    const book = this.#books.get(one.service.name) ?? new RuleBook();
    this.#books.set(one.service.name, book);
    const verdicts = await book.cycle(one, {
      clock: this.#parts.clock,
      etc: this.#parts.etc,
      usage: one.process === undefined ? undefined : this.#usage.get(one.process.pid),
      cpu,
      cycle: this.count,
      status: await this.#status(one),
    });
    for (const verdict of verdicts) {
      // An operator may have stopped it while the test ran.
      if (one.desired === "run") this.#apply(one, verdict, book);
    }
  }

  /** A file or directory is there by itself, or it is not. */
  async #existence(one: WatchedService): Promise<void> {
    const { target } = one.service;
    if (target.by !== "path") return;
    const there = await exists(target.path);
    if (there === !one.problems.has("existence")) return;
    if (there) one.problems.delete("existence");
    else {
      one.problems.set("existence", `${target.path} does not exist`);
      this.#hooks.event(one, "does not exist", "alert", `${target.path} does not exist`);
    }
  }

  async #status(one: WatchedService): Promise<number | undefined> {
    const { target } = one.service;
    if (target.by !== "command") return undefined;
    const { program } = target;
    const told = { MONIT_SERVICE: one.service.name, MONIT_HOST: hostname() };
    const { ended } = await launch(program, told, this.#parts.etc);
    const late = new AbortController();
    const time = this.#parts.clock.sleep(program.timeoutSeconds * 1000, late.signal).then(
      () => undefined,
      () => undefined,
    );
    const how = await Promise.race([ended, time]);
    late.abort(new Error("the program has ended"));
    return how?.code;
  }

  #apply(one: WatchedService, verdict: RuleChange, book: RuleBook): void {
    const { key, event, text, failed, action } = verdict;
    const lasting = !key.startsWith("changed") && !key.startsWith("restarts");
    if (!failed) one.problems.delete(key);
    else if (lasting) one.problems.set(key, text);
    this.#hooks.event(one, event, action.do, text);
    const passive = one.service.mode === "passive";
    switch (action.do) {
      case "alert":
        return;
      case "exec":
        void this.#hooks.run(action.program, one, event, text);
        return;
      case "restart":
      case "start":
        if (passive) return;
        one.problems.delete(key);
        book.reset();
        this.#hooks.restart(one);
        return;
      case "stop":
        one.desired = "stop";
        break;
      default:
        one.desired = "none";
    }
    this.#hooks.wake();
  }

  #cpu(): Record<"cpuuser" | "cpusystem" | "cpuwait", number> | undefined {
    const before = this.#ticks;
    const now = parseCpuTimes(readFileSync("/proc/stat", "utf8"));
    this.#ticks = now;
    if (before === undefined || now.total <= before.total) return undefined;
    const share = (key: "user" | "sys" | "wait") =>
      ((now[key] - before[key]) / (now.total - before.total)) * 100;
    return { cpuuser: share("user"), cpusystem: share("sys"), cpuwait: share("wait") };
  }
}
