import type { Clock } from "@slipway/kernel/clock";
import type { AwakeTime } from "./awake.ts";
import type { AgentReport, Known } from "./model.ts";

/** Takes what agents say by themselves, whatever carries it. */
export interface Heartbeats {
  /** An agent that nobody watches is not remembered. */
  heartbeat(agentId: string, report: AgentReport): void;
}

/** What is known of each agent. Times that count are those this process was awake. */
export class Sightings implements Heartbeats {
  readonly #awake: AwakeTime;
  readonly #clock: Pick<Clock, "now">;
  readonly #known = new Map<string, Known>();

  constructor(awake: AwakeTime, clock: Pick<Clock, "now">) {
    this.#awake = awake;
    this.#clock = clock;
  }

  of(agentId: string): Known | undefined {
    return this.#known.get(agentId);
  }

  /** From now on these and no others. */
  watch(agentIds: ReadonlySet<string>): void {
    for (const known of this.#known.keys()) if (!agentIds.has(known)) this.#known.delete(known);
    for (const id of agentIds)
      if (!this.#known.has(id))
        this.#known.set(id, { watchedSince: this.#awake.now(), watchedAt: this.#clock.now() });
  }

  heartbeat(agentId: string, report: AgentReport): void {
    this.#change(agentId, ({ watchedSince, watchedAt }) => ({
      watchedSince,
      watchedAt,
      answered: { awake: this.#awake.now(), at: this.#clock.now(), report },
    }));
  }

  /** A question that was asked at `asked` brought no answer. */
  silent(agentId: string, asked: number, why: string): void {
    this.#change(agentId, ({ failed, refused: _, ...known }) => ({
      ...known,
      failed: {
        awake: failed?.awake ?? asked,
        at: failed?.at ?? this.#clock.now(),
        times: (failed?.times ?? 0) + 1,
        why,
      },
    }));
  }

  /** It is there, and does not accept this Director, or this Director does not accept it. */
  refused(agentId: string, why: string): void {
    this.#change(agentId, ({ failed: _, ...known }) => ({
      ...known,
      refused: { at: known.refused?.at ?? this.#clock.now(), why },
    }));
  }

  #change(agentId: string, to: (known: Known) => Known): void {
    const known = this.#known.get(agentId);
    if (known !== undefined) this.#known.set(agentId, to(known));
  }
}
