import type { Alert } from "./alert.ts";
import { isWell, type Status } from "./model.ts";

/** An instance as the round has left it. */
export interface Announced {
  readonly uuid: string;
  /** `web/6f1c... (0)`. */
  readonly name: string;
  readonly deployment: string;
  readonly status: Status;
  readonly what: string;
  /** Time since the status began, in ms. */
  readonly forMs: number;
  /** A task works on its deployment: what it does to it is no news. */
  readonly locked: boolean;
}

export type NewAlert = Omit<Alert, "kind" | "id" | "created_at">;

/** Statuses that cause an alert at once; others cause one when they last. */
const AT_ONCE: readonly Status[] = ["unresponsive", "no_vm"];

const SEVERITY: Readonly<Partial<Record<Status, Alert["severity"]>>> = {
  unresponsive: 2,
  no_vm: 2,
  refused: 2,
  disk_not_mounted: 2,
  disk_read_only: 2,
  failing: 3,
  unfinished: 4,
};

/** Says of each instance once that something is wrong with it, and once that it is well again. */
export class Announcer {
  readonly #told = new Map<string, Status>();
  readonly #troubles = new Map<string, string>();
  readonly #lastsMs: number;
  #deaf = false;

  constructor(lastsMs: number) {
    this.#lastsMs = lastsMs;
  }

  instance(one: Announced): NewAlert | undefined {
    const told = this.#told.get(one.uuid);
    const about = {
      category: "vm_health",
      source: `${one.deployment}: ${one.name}`,
      deployment: one.deployment,
    } as const;
    if (one.locked || one.status === "unknown" || one.status === told) return undefined;
    if (isWell(one.status)) {
      this.#told.delete(one.uuid);
      if (told === undefined || one.status !== "healthy") return undefined;
      return { ...about, severity: 4, title: `${about.source} is well again`, summary: "" };
    }
    if (!AT_ONCE.includes(one.status) && one.forMs < this.#lastsMs) return undefined;
    this.#told.set(one.uuid, one.status);
    const severity = SEVERITY[one.status] ?? 3;
    // There is no more to say of one without a VM than that.
    const summary = one.status === "no_vm" ? "" : one.what;
    return { ...about, severity, title: `${about.source} ${words(one.status)}`, summary };
  }

  /** Returns the alert about a whole deployment, or with an empty name about all of them. */
  trouble(deployment: string, why: string | undefined): NewAlert | undefined {
    const told = this.#troubles.has(deployment);
    if (why === undefined) this.#troubles.delete(deployment);
    else this.#troubles.set(deployment, why);
    if (told === (why !== undefined)) return undefined;
    const source = deployment === "" ? "all deployments" : deployment;
    const about = { category: "deployment_health", source, deployment } as const;
    return why === undefined
      ? { ...about, severity: 4, title: `${source}: VMs are replaced again`, summary: "" }
      : { ...about, severity: 1, title: `${source}: VMs are not replaced`, summary: why };
  }

  /** Returns the alert about the connection to agents on NATS, which has been lost for `lostMs`. */
  connection(lostMs: number, agents: number): NewAlert | undefined {
    const about = { category: "deployment_health", source: "all agents on NATS", deployment: "" } as const;
    if (lostMs >= this.#lastsMs && agents > 0 && !this.#deaf) {
      this.#deaf = true;
      const summary = `the Director has no connection to NATS. Nobody knows how ${agents} ${agents === 1 ? "instance is" : "instances are"}, and no VM of theirs is replaced`;
      return { ...about, severity: 1, title: `${about.source} cannot be heard`, summary };
    }
    if (lostMs > 0 || !this.#deaf) return undefined;
    this.#deaf = false;
    return { ...about, severity: 4, title: `${about.source} are heard again`, summary: "" };
  }

  /** Deployments that an alert is open for. */
  get troubled(): readonly string[] {
    return [...this.#troubles.keys()];
  }

  keep(uuids: ReadonlySet<string>): void {
    for (const uuid of this.#told.keys()) if (!uuids.has(uuid)) this.#told.delete(uuid);
  }
}

const WORDS: Readonly<Partial<Record<Status, string>>> = {
  unresponsive: "is unresponsive",
  no_vm: "has no VM",
  refused: "cannot be asked",
  disk_not_mounted: "has its disk not mounted",
  disk_read_only: "has a disk that is read-only",
  failing: "is failing",
  unfinished: "is not as it was to become",
};

const words = (status: Status): string => WORDS[status] ?? `is ${status}`;
