/**
 * Problem that keeps a started agent from being ready, such as a persistent disk that did not come back. Pings report
 * it until a caller begins to handle it: a Director that repairs the disks of this VM pings between its messages, and
 * must then find the agent ready.
 */
export class StartupProblem {
  #problem: string | undefined;
  #dealtWith = false;

  report(problem: string): void {
    this.#problem = problem;
    this.#dealtWith = false;
  }

  acknowledge(): void {
    this.#dealtWith = true;
  }

  clear(): void {
    this.#problem = undefined;
  }

  problem(): string | undefined {
    return this.#problem;
  }

  /** Returns the problem unless a caller has begun to handle it. */
  pingError(): string | undefined {
    return this.#dealtWith ? undefined : this.#problem;
  }
}
