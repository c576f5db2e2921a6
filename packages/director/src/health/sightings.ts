import type { Clock } from "@slipway/kernel/clock";
import type { AwakeTime } from "./awake.ts";
import type { AgentReport, Known } from "./model.ts";

/** Takes what agents say by themselves, whatever carries it. */
export interface Heartbeats {
  /** Records a heartbeat and reports whether it has news. An agent that is not watched is not remembered. */
  heartbeat(agentId: string, said: AgentReport): boolean;
  /** Records that the agent has announced its shutdown. */
  leaves(agentId: string): void;
}

/** Remembers what is known of each agent. Times are counted while this process was awake. */
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

  /** Watches these agents and no others from now on. */
  watch(agentIds: ReadonlySet<string>): void {
    for (const known of this.#known.keys()) if (!agentIds.has(known)) this.#known.delete(known);
    for (const id of agentIds)
      if (!this.#known.has(id))
        this.#known.set(id, { watchedSince: this.#awake.now(), watchedAt: this.#clock.now() });
  }

  /** Records the answer to a question. */
  answered(agentId: string, report: AgentReport): void {
    this.#change(agentId, ({ watchedSince, watchedAt, beat }) => ({
      watchedSince,
      watchedAt,
      ...(beat !== undefined && { beat }),
      answered: { awake: this.#awake.now(), at: this.#clock.now(), report },
    }));
  }

  /**
   * Records a heartbeat. Only answers name the mounted disk and the processes: those of the last answer stand unless the
   * heartbeat contradicts them. A refusal of the last question stands, too.
   */
  heartbeat(agentId: string, said: AgentReport): boolean {
    const before = this.#known.get(agentId);
    const last = before?.answered?.report;
    const same = last?.jobState === said.jobState;
    const isNew =
      last !== undefined && (!same || hasStore(last) !== hasStore(said) || last.readOnly !== said.readOnly);
    const report = {
      ...said,
      processes: same ? last.processes : said.processes,
      mounted: said.mounted ?? last?.mounted,
    };
    const awake = this.#awake.now();
    this.#change(agentId, ({ failed: _, leaves: __, ...known }) => ({
      ...known,
      answered: { awake, at: this.#clock.now(), report },
      beat: awake,
      news: known.news === true || isNew,
    }));
    return before !== undefined && isNew && before.news !== true;
  }

  leaves(agentId: string): void {
    this.#change(agentId, (known) => ({ ...known, leaves: this.#clock.now() }));
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

  /** Records that the agent is there, but the agent or this Director does not accept the other. */
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

/** Agents tell how full the persistent disk is if something is mounted there. */
const hasStore = ({ vitals }: AgentReport): boolean => vitals.disk.persistent !== undefined;
