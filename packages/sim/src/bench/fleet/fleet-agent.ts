import { diskOf } from "./orders.ts";

/** One of many agents in a process: it says what a real one says, and does nothing. */
export interface FleetAgent {
  /** Sends a heartbeat. Undefined if the agent is polled instead. */
  beat?(): void;
  /** Ends the agent as if its VM were gone. */
  end(): void;
}

const VITALS = {
  cpu: { sys: "0.4", user: "1.7", wait: "0.0" },
  disk: {
    ephemeral: { inode_percent: "1", percent: "4" },
    persistent: { inode_percent: "1", percent: "9" },
    system: { inode_percent: "31", percent: "42" },
  },
  load: ["0.02", "0.05", "0.01"],
  mem: { kb: "412312", percent: "11" },
  swap: { kb: "0", percent: "0" },
  uptime: { secs: 86_400 },
};

const PROCESSES = ["web", "worker", "proxy"].map((name) => ({ name, state: "running" }));

export const heartbeatText = (id: string): string =>
  JSON.stringify({
    ...{ deployment: "fleet", job: "web", index: 0, job_state: "running", node_id: id },
    ...{ number_of_processes: PROCESSES.length, vitals: VITALS },
  });

/** State and answers of an agent. */
export class FleetAnswers {
  readonly #id: string;
  readonly #noteAsked: () => void;
  readonly #disks: readonly string[];
  #spec: object = {};

  constructor(id: string, hasDisk: boolean, noteAsked: () => void) {
    this.#id = id;
    this.#noteAsked = noteAsked;
    this.#disks = hasDisk ? [diskOf(id)] : [];
  }

  to(method: string, args: readonly unknown[]): unknown {
    switch (method) {
      case "ping":
        return "pong";
      case "get_state":
        this.#noteAsked();
        return {
          ...{ agent_id: this.#id, networks: {}, ...this.#spec },
          ...{ job_state: "running", processes: PROCESSES, vitals: VITALS },
        };
      case "list_disk":
        return this.#disks;
      case "drain":
        return 0;
      case "apply":
        this.#spec = args[0] as object;
        return "applied";
      default:
        return {};
    }
  }
}

/** A message, as far as it is read here. */
export interface FleetMessage {
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly reply_to: string;
}
