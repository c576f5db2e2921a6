import {
  AgentRefused,
  AgentSilent,
  type HasDisks,
  type KnowsState,
  type Reaches,
  WrongAgent,
} from "@slipway/engine/agents/agent";
import { isDistrust } from "@slipway/engine/agents/distrust";
import type { Random } from "@slipway/kernel/random";
import type { WatchedVm } from "../store/health.ts";
import type { AwakeTime } from "./awake.ts";
import { type Connection, lostSince } from "./hearing.ts";
import type { Known } from "./model.ts";
import { reportOf } from "./report.ts";
import type { Sightings } from "./sightings.ts";

export interface PollerOptions {
  readonly agents: Reaches<KnowsState & Pick<HasDisks, "listDisk">>;
  readonly sightings: Sightings;
  readonly awake: AwakeTime;
  readonly random: Pick<Random, "fraction">;
  readonly intervalMs: number;
  /** Agents asked at once; of those that did not answer the last time, half as many more. */
  readonly atOnce: number;
  /** The one by which an agent is reached; undefined: each has its own. */
  readonly connectionOf?: (vm: WatchedVm) => Connection | undefined;
  readonly onError: (error: unknown) => void;
}

/** How long an answer may take, and how soon an agent that gave none is asked again. */
const ANSWER_MS = 10_000;
const AGAIN_MS = 10_000;
/** Who says by itself how it is, is silent when it has not done so for so many times the usual time between questions. */
const BEATS = 4 / 3;
/** And is asked so much more rarely: which disk it has mounted, and whether it answers, no heartbeat says. */
const RARELY = 10;
/** The first questions are spread over this time. */
const SPREAD_MS = 3_000;

interface Polled {
  vm: WatchedVm;
  /** `AwakeTime`. */
  next: number;
  /** When it is asked although it says by itself how it is. */
  later: number;
  busy: boolean;
}

/**
 * Asks agents how they are: each about every `intervalMs`, not all at the same moment, and those that are silent in a
 * queue of their own, so that nobody waits behind them.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly #polled = new Map<string, Polled>();
  readonly #stopped = new AbortController();
  readonly #asking = new Set<Promise<void>>();
  readonly #busy = { answering: 0, silent: 0 };

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** From now on these and no others. */
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
          busy: false,
        });
    }
  }

  /** Asks who is due. To be called every second or so. */
  tick(): void {
    if (this.#stopped.signal.aborted) return;
    const { awake, sightings, atOnce } = this.#options;
    const now = awake.now();
    const due = [...this.#polled.values()].filter((polled) => this.#isDue(polled, now));
    // Who has waited longest comes first, or those in front would be asked twice before the last were asked once.
    for (const polled of due.sort((a, b) => a.next - b.next)) {
      const lane = sightings.of(polled.vm.agentId)?.failed === undefined ? "answering" : "silent";
      if (this.#busy[lane] >= (lane === "silent" ? Math.ceil(atOnce / 2) : atOnce)) continue;
      this.#begin(polled, lane);
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#asking);
  }

  #isDue({ vm, busy, next, later }: Polled, now: number): boolean {
    if (busy || this.#options.connectionOf?.(vm)?.up === false) return false;
    const known = this.#options.sightings.of(vm.agentId);
    if (known === undefined || !this.#speaks(known, now)) return next <= now;
    return (known.news === true || later <= now) && next <= now;
  }

  /** It says by itself how it is, and the last question did not speak against it. */
  #speaks({ beat, failed, refused }: Known, now: number): boolean {
    if (beat === undefined || failed !== undefined || refused !== undefined) return false;
    return now - beat < this.#options.intervalMs * BEATS;
  }

  #begin(polled: Polled, lane: "answering" | "silent"): void {
    const { awake, sightings, intervalMs } = this.#options;
    polled.busy = true;
    this.#busy[lane] += 1;
    const asking = this.#ask(polled.vm).then((answered) => {
      polled.busy = false;
      this.#busy[lane] -= 1;
      const known = sightings.of(polled.vm.agentId);
      const now = awake.now();
      const soon = Math.min(AGAIN_MS, intervalMs / 3);
      const speaks = known !== undefined && this.#speaks(known, now);
      polled.next = now + (speaks || known?.failed !== undefined ? soon : this.#pause());
      if (answered) polled.later = now + RARELY * this.#pause();
      this.#asking.delete(asking);
    });
    this.#asking.add(asking);
  }

  /** Agents that were begun with together do not stay together. */
  #pause(): number {
    return this.#options.intervalMs * (0.9 + 0.2 * this.#options.random.fraction());
  }

  /** Whether it answered. Never rejects. */
  async #ask(vm: WatchedVm): Promise<boolean> {
    const { agents, sightings, awake, intervalMs, onError } = this.#options;
    const { signal } = this.#stopped;
    const begun = awake.mark();
    const options = { signal, timeoutMs: Math.min(ANSWER_MS, intervalMs) };
    try {
      const agent = agents.agent(vm);
      const { raw, jobState } = await agent.getState(true, options);
      const mounted = vm.disk === undefined ? undefined : await this.#mounted(agent, vm.disk, options);
      sightings.answered(vm.agentId, reportOf(jobState, raw, mounted));
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      const why = error instanceof Error ? error.message : String(error);
      if (error instanceof AgentRefused || isDistrust(error)) sightings.refused(vm.agentId, why);
      else if (!(error instanceof AgentSilent) && !(error instanceof WrongAgent)) onError(error);
      // It may have answered while nobody was there to hear it.
      else if (!awake.stoppedSince(begun) && !this.#lostSince(vm, begun.awake))
        sightings.silent(vm.agentId, begun.awake, why);
      return false;
    }
  }

  #lostSince(vm: WatchedVm, then: number): boolean {
    const connection = this.#options.connectionOf?.(vm);
    return connection !== undefined && lostSince(connection, then);
  }

  /** Undefined: it does not say. */
  async #mounted(
    agent: Pick<HasDisks, "listDisk">,
    disk: string,
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<boolean | undefined> {
    try {
      return (await agent.listDisk(options)).includes(disk);
    } catch (error) {
      if (error instanceof AgentRefused) return undefined;
      throw error;
    }
  }
}
