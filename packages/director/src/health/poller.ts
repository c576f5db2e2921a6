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
  readonly onError: (error: unknown) => void;
}

/** How long an answer may take, and how soon an agent that gave none is asked again. */
const ANSWER_MS = 10_000;
const AGAIN_MS = 10_000;
/** The first questions are spread over this time. */
const SPREAD_MS = 3_000;

interface Polled {
  vm: WatchedVm;
  /** `AwakeTime`. */
  next: number;
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
          busy: false,
        });
    }
  }

  /** Asks who is due. To be called every second or so. */
  tick(): void {
    if (this.#stopped.signal.aborted) return;
    const { awake, sightings, intervalMs, atOnce } = this.#options;
    const now = awake.now();
    const due = [...this.#polled.values()].filter(({ busy, next }) => !busy && next <= now);
    // Who has waited longest comes first, or those in front would be asked twice before the last were asked once.
    for (const polled of due.sort((a, b) => a.next - b.next)) {
      const known = sightings.of(polled.vm.agentId);
      const heard = known?.answered?.awake ?? Number.NEGATIVE_INFINITY;
      // It has said by itself how it is.
      if (known?.failed === undefined && heard > polled.next - intervalMs / 2) {
        polled.next = heard + this.#pause();
        continue;
      }
      const lane = known?.failed === undefined ? "answering" : "silent";
      if (this.#busy[lane] >= (lane === "silent" ? Math.ceil(atOnce / 2) : atOnce)) continue;
      this.#begin(polled, lane);
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#asking);
  }

  #begin(polled: Polled, lane: "answering" | "silent"): void {
    const { awake, sightings, intervalMs } = this.#options;
    polled.busy = true;
    this.#busy[lane] += 1;
    const asking = this.#ask(polled.vm).finally(() => {
      polled.busy = false;
      this.#busy[lane] -= 1;
      const soon = sightings.of(polled.vm.agentId)?.failed !== undefined;
      polled.next = awake.now() + (soon ? Math.min(AGAIN_MS, intervalMs / 3) : this.#pause());
      this.#asking.delete(asking);
    });
    this.#asking.add(asking);
  }

  /** Agents that were begun with together do not stay together. */
  #pause(): number {
    return this.#options.intervalMs * (0.9 + 0.2 * this.#options.random.fraction());
  }

  /** Never rejects. */
  async #ask(vm: WatchedVm): Promise<void> {
    const { agents, sightings, awake, intervalMs, onError } = this.#options;
    const { signal } = this.#stopped;
    const begun = awake.mark();
    const options = { signal, timeoutMs: Math.min(ANSWER_MS, intervalMs) };
    try {
      const agent = agents.agent(vm);
      const { raw, jobState } = await agent.getState(true, options);
      const mounted = vm.disk === undefined ? undefined : await this.#mounted(agent, vm.disk, options);
      sightings.heartbeat(vm.agentId, reportOf(jobState, raw, mounted));
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      if (error instanceof AgentRefused || isDistrust(error)) sightings.refused(vm.agentId, why);
      else if (!(error instanceof AgentSilent) && !(error instanceof WrongAgent)) onError(error);
      // It may have answered while nobody was there to hear it.
      else if (!awake.stoppedSince(begun)) sightings.silent(vm.agentId, begun.awake, why);
    }
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
