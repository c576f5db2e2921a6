import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { FleetOrder, FleetReport } from "./orders.ts";

/** The process of the agents, as whoever gives it orders sees it. */
export class AgentsChild {
  readonly #child: ChildProcess;
  #last: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#child = fork(process.argv[1] ?? "", ["fleet-agents"], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  }

  /** One after the other. */
  tell(order: FleetOrder): Promise<FleetReport> {
    const told = this.#last.then(async (): Promise<FleetReport> => {
      this.#child.send(order);
      const [report] = (await once(this.#child, "message")) as [FleetReport];
      if (report.error !== undefined) throw new Error(`the agents: ${report.error}`);
      return report;
    });
    this.#last = told.catch(() => undefined);
    return told;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }
}
