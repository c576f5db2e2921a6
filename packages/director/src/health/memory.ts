import { expectsVm } from "@slipway/engine/model/records";
import { isWell, type Status, type Verdict, type Watched } from "./model.ts";
import type { Judged } from "./resurrect.ts";

export interface Now {
  /** `AwakeTime`. */
  readonly awake: number;
  /** Time of day. */
  readonly at: number;
}

interface Seen {
  readonly status: Status;
  readonly awake: number;
  readonly at: number;
}

/** Upper limit of the wait between two tries, in multiples of the first. */
const LONGEST_WAIT = 60;

/** Remembers what earlier rounds have seen of each instance. It starts empty with each start of the Director. */
export class Memory {
  readonly #absent = new Map<string, number>();
  readonly #seen = new Map<string, Seen>();
  /** Times at which instances were last down. */
  readonly #down = new Map<string, number>();
  /** Times at which resurrections were found to have ended without having helped. */
  readonly #ended = new Map<string, { readonly task: number; readonly awake: number }>();

  /** Returns the time since which an instance has had no VM. Time during which a task works on its deployment does not count. */
  absentSince(watched: Watched, locked: boolean, now: Now): number | undefined {
    const { uuid } = watched;
    if (watched.vm !== undefined || !expectsVm(watched) || locked) {
      this.#absent.delete(uuid);
      return undefined;
    }
    const since = this.#absent.get(uuid) ?? now.awake;
    this.#absent.set(uuid, since);
    return since;
  }

  /** Notes what was found, and says since when that is so. */
  note({ watched: { uuid }, verdict }: Judged, now: Now): Seen {
    const before = this.#seen.get(uuid);
    const seen =
      before?.status === verdict.status ? before : { status: verdict.status, awake: now.awake, at: now.at };
    this.#seen.set(uuid, seen);
    if (isDown(verdict)) this.#down.set(uuid, now.awake);
    return verdict.since === undefined ? seen : { ...seen, at: verdict.since };
  }

  /** Returns the instances that were down within the window, by deployment. */
  downWithin(
    windowMs: number,
    watched: readonly Watched[],
    now: Now,
  ): ReadonlyMap<string, ReadonlySet<string>> {
    const down = new Map<string, Set<string>>();
    for (const { uuid, deployment } of watched) {
      const last = this.#down.get(uuid);
      if (last === undefined || now.awake - last > windowMs) continue;
      const its = down.get(deployment);
      if (its === undefined) down.set(deployment, new Set([uuid]));
      else its.add(uuid);
    }
    return down;
  }

  /** Seconds until an instance may be tried again whose resurrection has not helped: twice as long each time. */
  waitOf({ uuid, resurrection }: Watched, open: boolean, firstMs: number, now: Now): number | undefined {
    if (resurrection === undefined || open) {
      this.#ended.delete(uuid);
      return undefined;
    }
    const before = this.#ended.get(uuid);
    const ended = before?.task === resurrection.task ? before : { task: resurrection.task, awake: now.awake };
    this.#ended.set(uuid, ended);
    const times = Math.min(LONGEST_WAIT, 2 ** Math.max(0, resurrection.attempts - 1));
    const left = ended.awake + firstMs * times - now.awake;
    return left > 0 ? left / 1000 : undefined;
  }

  /** Forgets all other instances. */
  keep(uuids: ReadonlySet<string>): void {
    for (const map of [this.#absent, this.#seen, this.#down, this.#ended])
      for (const uuid of map.keys()) if (!uuids.has(uuid)) map.delete(uuid);
  }
}

const isDown = ({ status, toHeal }: Verdict): boolean => !isWell(status) && toHeal;
