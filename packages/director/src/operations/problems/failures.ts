import { adviceOf } from "../../tasks/failure.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { Unresolved } from "../errors.ts";

/** Collects what fails of problems that are resolved one after the other: one does not keep the others from being done. */
export class Failures {
  readonly #signal: AbortSignal;
  readonly #found: string[] = [];

  constructor({ signal }: Pick<TaskContext, "signal">) {
    this.#signal = signal;
  }

  /** Runs the work, and notes its failure, in `words` or as advice to the operator. A task that was stopped stops here. */
  async noting(
    work: () => Promise<unknown>,
    words: (advice: string) => string = (advice) => advice,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#found.push(words(adviceOf(error)));
    }
  }

  throwIfAny(): void {
    if (this.#found.length > 0) throw Unresolved({ failures: this.#found });
  }
}
