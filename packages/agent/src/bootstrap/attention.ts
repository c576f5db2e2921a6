/**
 * What keeps a started agent from being what it should be, such as a persistent disk that did not come back. It is told
 * to whoever pings until somebody has begun to deal with it: a Director that looks after the disks of this VM pings
 * between its messages, and must then find the agent ready.
 */
export class Attention {
  #problem: string | undefined;
  #dealtWith = false;

  report(problem: string): void {
    this.#problem = problem;
    this.#dealtWith = false;
  }

  dealWith(): void {
    this.#dealtWith = true;
  }

  clear(): void {
    this.#problem = undefined;
  }

  problem(): string | undefined {
    return this.#problem;
  }

  /** The problem, as long as nobody deals with it. */
  forPing(): string | undefined {
    return this.#dealtWith ? undefined : this.#problem;
  }
}
