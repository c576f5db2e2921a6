import { readFileSync } from "node:fs";
import type { Clock } from "@slipway/kernel/clock";

/** Linux counts processor time of threads in hundredths of a second, whatever the machine. */
const TICK_MS = 10;
/** A question that waits this many times its limit is given up: its thread hangs, or the machine was away. */
const STALLED = 20;
const SHORTEST_LOOK_MS = 10;

/**
 * Processor time that a thread spends on one question. Where the system does not tell, the time that passes counts. Starting the
 * thread does not count.
 */
export class ThreadTime {
  readonly #clock: Clock;
  #proc: string | undefined;
  #ready = false;
  #start = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The thread has started; `proc` is its directory in `/proc`. */
  begin(proc: string | undefined): void {
    this.#proc = proc !== undefined && processorMs(proc) !== undefined ? proc : undefined;
    this.#ready = true;
    this.#start = this.#total();
  }

  /** Returns the processor time since `limit` was called. */
  spentMs(): number {
    return this.#ready ? Math.max(0, this.#total() - this.#start) : 0;
  }

  /** Calls `over` once when a question takes too long. The returned function ends that. */
  limit(limitMs: number, over: (why: string) => void): () => void {
    if (this.#ready) this.#start = this.#total();
    const began = this.#clock.monotonic();
    let cancel: () => void = () => undefined;
    const look = () => {
      const spent = this.spentMs();
      const passed = this.#clock.monotonic() - began;
      if (spent >= limitMs) return over(`it takes more than ${limitMs / 1000} s of processor time`);
      if (passed >= limitMs * STALLED) return over(`it is not read after ${Math.round(passed / 1000)} s`);
      cancel = this.#clock.after(Math.max(SHORTEST_LOOK_MS, limitMs - spent), look);
    };
    cancel = this.#clock.after(limitMs, look);
    return () => cancel();
  }

  #total(): number {
    const time = this.#proc === undefined ? undefined : processorMs(this.#proc);
    // A thread that has ended has no time any more.
    if (this.#proc !== undefined) return time ?? this.#start;
    return this.#clock.monotonic();
  }
}

/** User and system time of a thread; undefined where there is no such file. */
function processorMs(proc: string): number | undefined {
  try {
    const text = readFileSync(`${proc}/stat`, "utf8");
    // The name of the thread stands in brackets and may hold anything; what follows are numbers from the third field on.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
