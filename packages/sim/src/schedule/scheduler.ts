import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "@slipway/kernel/clock";

export type GateKind = "cpi" | "agent" | "write" | "read";

/** One call of a Director that waits until the scheduler lets it run. */
export interface HeldCall {
  readonly kind: GateKind;
  readonly name: string;
  /** The operation that makes the call; undefined: the Director's own work, such as looking for tasks. */
  readonly actor: string | undefined;
}

interface Waiting extends HeldCall {
  /** Makes the call, and resolves when the call and its transaction are over. */
  readonly run: (answer: "deliver" | "drop") => Promise<void>;
}

/** File requests and connections that are under way keep the process busy without a gate. */
const BUSY = /^(?:FSReq|PipeConnect|TCPConnect)/;
/** Turns of the event loop without any work, after which the process counts as idle. */
const CALM_TURNS = 2;

/**
 * Runs the calls of Directors one at a time, in an order that the caller chooses. Between two calls it waits until the process
 * is idle: which calls are ready then depends on the order chosen so far, not on the machine's speed.
 */
export class CallScheduler {
  #waiting: Waiting[] = [];
  /** Extra real milliseconds to wait for work in threads (compression), which cannot be seen. */
  patienceMs = 0;
  /** False while no operation runs: then there is nothing to be patient for. */
  isWorking: () => boolean = () => true;

  /** Holds a call until it is chosen. */
  enter<T>(
    gate: HeldCall,
    work: () => Promise<T>,
    over: () => Promise<void> = () => Promise.resolve(),
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run = async (answer: "deliver" | "drop") => {
        try {
          const result = await work();
          if (answer === "deliver") resolve(result);
        } catch (error) {
          if (answer === "deliver") reject(error as Error);
        }
        if (answer === "deliver") await over();
      };
      this.#waiting.push({ ...gate, run });
    });
  }

  /** The calls that wait, in the order in which they were made. */
  get ready(): readonly HeldCall[] {
    return this.#waiting;
  }

  /** Lets a call run to its end. `drop`: its caller never hears of it, as if it had been killed meanwhile. */
  async run(gate: HeldCall, answer: "deliver" | "drop" = "deliver"): Promise<void> {
    const found = this.#waiting.find((one) => one === gate);
    if (found === undefined) throw new Error(`bug: ${gate.name} does not wait`);
    this.#waiting = this.#waiting.filter((one) => one !== found);
    await found.run(answer);
  }

  /** Forgets all calls that wait: their callers are dead. */
  clear(): void {
    this.#waiting = [];
  }

  /** Waits until nothing happens in the process any more unless a call is let run or time passes. */
  async settle(): Promise<void> {
    await this.#calm();
    // Work in threads has no other sign than that nobody has anything to do.
    for (let left = this.patienceMs; left > 0 && this.#waiting.length === 0 && this.isWorking(); left -= 1) {
      await systemClock.sleep(1);
      await this.#calm();
    }
  }

  async #calm(): Promise<void> {
    for (let calm = 0; calm < CALM_TURNS; ) {
      const before = this.#waiting.length;
      await nextTurn();
      const isBusy = process.getActiveResourcesInfo().some((name) => BUSY.test(name));
      calm = isBusy || this.#waiting.length !== before ? 0 : calm + 1;
    }
  }
}
