import {
  type AgentLookup,
  AgentRefused,
  AgentSilent,
  type AskOptions,
  type DiskControl,
  type StateReporter,
  WrongAgent,
} from "@slipway/engine/agents/agent";
import { isDistrust } from "@slipway/engine/agents/distrust";
import { systemCode } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import { sharedAbort } from "@slipway/kernel/shared-abort";
import type { WatchedVm } from "../store/health.ts";
import type { AwakeTime } from "./awake.ts";
import { type Connection, lostSince } from "./hearing.ts";
import type { Known } from "./model.ts";
import { reportOf } from "./report.ts";
import type { Sightings } from "./sightings.ts";

export interface PollerOptions {
  readonly agents: AgentLookup<StateReporter & Pick<DiskControl, "listDisk">>;
  readonly sightings: Sightings;
  readonly awake: AwakeTime;
  readonly random: Pick<Random, "fraction">;
  readonly intervalMs: number;
  /** Agents asked at once, beside those whose answer is overdue. */
  readonly atOnce: number;
  /** The one by which an agent is reached; undefined: each has its own. */
  readonly connectionOf?: (vm: WatchedVm) => Connection | undefined;
  readonly onError: (error: unknown) => void;
}

/** Deadline of an answer, and pause before a silent agent is asked again. */
const ANSWER_MS = 10_000;
const AGAIN_MS = 10_000;
/** An agent that sends heartbeats is silent after so many intervals between questions without one. */
const BEATS = 4 / 3;
/** Factor by which agents with heartbeats are asked more rarely: no heartbeat has the mounted disk, or shows that they answer. */
const RARELY = 10;
/** The first questions are spread over this time. */
const SPREAD_MS = 3_000;
/** An agent that has not answered by now moves to the queue of the silent, and delays the others no longer. */
const PROMPT_MS = 500;
/** Share of all agents of which silent ones are asked at once: each takes its whole time. `MOST_SILENT` is the upper limit. */
const SILENT_PART = 1 / 8;
const MOST_SILENT = 512;
/** Shortages of this machine: agents cannot be asked meanwhile, and do not count as silent for it. */
const OUR_SHORTAGES = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL", "EAGAIN"]);

type Lane = "prompt" | "silent";

interface Polled {
  vm: WatchedVm;
  /** `AwakeTime`. */
  next: number;
  /** Time at which the agent is asked in spite of its heartbeats. */
  later: number;
  /** The question under way. */
  question: { lane: Lane; readonly begun: number } | undefined;
}

/**
 * Asks agents how they are: each about every `intervalMs`, not all at the same moment. Silent agents have a queue of their own,
 * so that others do not wait behind them. When one question is over, the next begins.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly #polled = new Map<string, Polled>();
  /** Signal that every question listens to. */
  readonly #stopped = sharedAbort();
  readonly #asking = new Set<Promise<void>>();
  readonly #busy: Record<Lane, number> = { prompt: 0, silent: 0 };
  /** Agents that are due, the one that has waited longest last. */
  #due: Readonly<Record<Lane, Polled[]>> = { prompt: [], silent: [] };
  #short = false;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** Watches these agents and no others from now on. */
  watch(vms: readonly WatchedVm[]): void {
    const { awake, random, sightings } = this.#options;
    const ids = new Set<string>(vms.map(({ agentId }) => agentId));
    sightings.watch(ids);
    for (const id of this.#polled.keys()) if (!ids.has(id)) this.#polled.delete(id);
    for (const vm of vms) {
      const known = this.#polled.get(vm.agentId);
      if (known !== undefined) known.vm = vm;
      else
        this.#polled.set(vm.agentId, {
          vm,
          next: awake.now() + random.fraction() * Math.min(SPREAD_MS, this.#options.intervalMs),
          later: Number.NEGATIVE_INFINITY,
          question: undefined,
        });
    }
  }

  /** Asks who is due. To be called every second or so. */
  tick(): void {
    if (this.#stopped.signal.aborted) return;
    const { awake, sightings } = this.#options;
    const now = awake.now();
    this.#short = false;
    const due: Record<Lane, Polled[]> = { prompt: [], silent: [] };
    for (const polled of this.#polled.values()) {
      const { question } = polled;
      if (question?.lane === "prompt" && now - question.begun >= PROMPT_MS) this.#move(question);
      if (this.#isDue(polled, now))
        due[sightings.of(polled.vm.agentId)?.failed === undefined ? "prompt" : "silent"].push(polled);
    }
    // Who has waited longest comes first, or those in front would be asked twice before the last were asked once.
    for (const lane of [due.prompt, due.silent]) lane.sort((a, b) => b.next - a.next);
    this.#due = due;
    this.#fill("prompt");
    this.#fill("silent");
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#asking);
  }

  #isDue({ vm, question, next, later }: Polled, now: number): boolean {
    if (question !== undefined || this.#options.connectionOf?.(vm)?.up === false) return false;
    const known = this.#options.sightings.of(vm.agentId);
    if (known === undefined || !this.#speaks(known, now)) return next <= now;
    return (known.news === true || later <= now) && next <= now;
  }

  /** Reports whether the agent sends heartbeats, and the last question did not contradict them. */
  #speaks({ beat, failed, refused }: Known, now: number): boolean {
    if (beat === undefined || failed !== undefined || refused !== undefined) return false;
    return now - beat < this.#options.intervalMs * BEATS;
  }

  #most(lane: Lane): number {
    const { atOnce } = this.#options;
    if (lane === "prompt") return atOnce;
    return Math.min(MOST_SILENT, Math.max(atOnce / 2, this.#polled.size * SILENT_PART));
  }

  #fill(lane: Lane): void {
    const most = this.#most(lane);
    while (this.#busy[lane] < most && !this.#short && !this.#stopped.signal.aborted) {
      const polled = this.#due[lane].pop();
      if (polled === undefined) return;
      // It may have been forgotten since, or have spoken by itself.
      const known = this.#polled.get(polled.vm.agentId) === polled;
      if (known && this.#isDue(polled, this.#options.awake.now())) this.#begin(polled, lane);
    }
  }

  #move(question: NonNullable<Polled["question"]>): void {
    if (this.#busy.silent >= 2 * MOST_SILENT) return;
    question.lane = "silent";
    this.#busy.prompt -= 1;
    this.#busy.silent += 1;
  }

  #begin(polled: Polled, lane: Lane): void {
    const { awake, sightings, intervalMs } = this.#options;
    const question = { lane, begun: awake.now() };
    polled.question = question;
    this.#busy[lane] += 1;
    const asking = this.#ask(polled.vm).then((answered) => {
      polled.question = undefined;
      this.#busy[question.lane] -= 1;
      const known = sightings.of(polled.vm.agentId);
      const now = awake.now();
      const soon = Math.min(AGAIN_MS, intervalMs / 3);
      const speaks = known !== undefined && this.#speaks(known, now);
      polled.next = now + (speaks || known?.failed !== undefined ? soon : this.#pause());
      if (answered) polled.later = now + RARELY * this.#pause();
      this.#asking.delete(asking);
      this.#fill("prompt");
      this.#fill("silent");
    });
    this.#asking.add(asking);
  }

  /** Agents that were begun with together do not stay together. */
  #pause(): number {
    return this.#options.intervalMs * (0.9 + 0.2 * this.#options.random.fraction());
  }

  /** Reports whether the agent answered. Never rejects. */
  async #ask(vm: WatchedVm): Promise<boolean> {
    const { agents, sightings, awake, intervalMs, onError } = this.#options;
    const { signal } = this.#stopped;
    const begun = awake.mark();
    const options = { signal, timeoutMs: Math.min(ANSWER_MS, intervalMs), once: true };
    try {
      const agent = agents.agent(vm);
      const { raw, jobState } = await agent.getState(true, options);
      const mounted = vm.disk === undefined ? undefined : await this.#mounted(agent, vm.disk, options);
      sightings.answered(vm.agentId, reportOf(jobState, raw, mounted));
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      const why = error instanceof Error ? error.message : String(error);
      if (OUR_SHORTAGES.has(systemCode((error as Error).cause) ?? "")) this.#fallShort(error);
      else if (error instanceof AgentRefused || isDistrust(error)) sightings.refused(vm.agentId, why);
      else if (!(error instanceof AgentSilent) && !(error instanceof WrongAgent)) onError(error);
      // The agent may have answered while the Director was stopped or not connected.
      else if (!awake.stoppedSince(begun) && !this.#lostSince(vm, begun.awake))
        sightings.silent(vm.agentId, begun.awake, why);
      return false;
    }
  }

  /** Asks no other agent until the next tick. */
  #fallShort(error: unknown): void {
    if (!this.#short) this.#options.onError(error);
    this.#short = true;
  }

  #lostSince(vm: WatchedVm, then: number): boolean {
    const connection = this.#options.connectionOf?.(vm);
    return connection !== undefined && lostSince(connection, then);
  }

  /** Undefined: it does not say. */
  async #mounted(
    agent: Pick<DiskControl, "listDisk">,
    disk: string,
    options: AskOptions,
  ): Promise<boolean | undefined> {
    try {
      return (await agent.listDisk(options)).includes(disk);
    } catch (error) {
      if (error instanceof AgentRefused) return undefined;
      throw error;
    }
  }
}
