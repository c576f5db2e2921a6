import { fileURLToPath } from "node:url";
import { setEnvironmentData } from "node:worker_threads";
import { bundle } from "@slipway/testkit/bundle";

const KEY = "slipway-gate";
const MARK = "held at the gate";

/** A document that its thread begins to read only when the gate is open. Too long to be read by the caller. */
export const HELD = `a: 1\n# ${MARK} ${"x".repeat(5000)}`;

/** Holds the threads that are to read `HELD`, without processor time, until it is opened. A test has one gate at a time. */
export class Gate {
  readonly #cells = new Int32Array(new SharedArrayBuffer(8));

  constructor() {
    setEnvironmentData(KEY, this.#cells);
  }

  /** Number of questions that have come to the gate. */
  get reached(): number {
    return Atomics.load(this.#cells, 0);
  }

  open(): void {
    Atomics.store(this.#cells, 1, 1);
    Atomics.notify(this.#cells, 1);
  }

  /** Path of a script that reads documents, and has questions about `HELD` wait for the gate made last. */
  script(): Promise<string> {
    return bundle({
      script: `
        import { getEnvironmentData, parentPort } from "node:worker_threads";
        import { servesDocuments } from "./serve.ts";
        const cells = getEnvironmentData("${KEY}") as Int32Array;
        // Before the listener that answers: the thread stands still.
        parentPort?.on("message", ({ question }) => {
          if (!JSON.stringify(question).includes("${MARK}")) return;
          Atomics.add(cells, 0, 1);
          Atomics.wait(cells, 1, 0);
        });
        servesDocuments();`,
      in: fileURLToPath(new URL("..", import.meta.url)),
    });
  }
}
