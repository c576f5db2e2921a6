import type { AllowedAgent } from "@slipway/engine/agents/nats/users";
import type { Clock } from "@slipway/kernel/clock";
import type { AgentId } from "@slipway/protocol/ids";
import { agentsBeingMade } from "../store/nats-authorities.ts";
import { agentsUnrecorded } from "../store/problems.ts";
import type { Db } from "../store/schema.ts";

export interface AllowedAgentsOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** Called whenever an agent comes or goes, and once a day. */
  readonly changed: (agents: readonly AllowedAgent[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Interval of upstream's nats-sync. */
const EVERY_MS = 10_000;
const TELL_MS = 24 * 3_600_000;
/** Time per agent that a server takes to read its configuration. Agents that come meanwhile are announced together. */
const EACH_MS = 0.2;

/** The agents that may take part: of recorded VMs, of those about to be made, and of those that wait to be adopted. */
export class AllowedAgents {
  readonly #options: AllowedAgentsOptions;
  #known = "";
  #toldAt = 0;
  #again = false;
  #agents: ReadonlySet<string> = new Set();
  readonly #stopped = new AbortController();
  #cancel = () => {};
  #looking: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(options: AllowedAgentsOptions) {
    this.#options = options;
  }

  /** Returns the agents of now; called once before the server is started with them. */
  async open(): Promise<readonly AllowedAgent[]> {
    const agents = await this.#list();
    this.#note(agents);
    this.#toldAt = this.#options.clock.monotonic();
    return agents;
  }

  start(): void {
    this.#cancel = this.#options.clock.after(EVERY_MS, () => {
      void this.refresh()
        .catch(this.#options.onError)
        .finally(() => {
          if (!this.#stopped.signal.aborted) this.start();
        });
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancel();
    await this.#next?.catch(() => undefined);
    await this.#looking.catch(() => undefined);
  }

  has(agentId: string): boolean {
    return this.#agents.has(agentId);
  }

  /** Looks for changes. Callers during a running look share the next one. */
  refresh(): Promise<void> {
    this.#next ??= this.#looking
      .catch(() => undefined)
      .then(() => this.#serverIsReady())
      .then(() => {
        this.#next = undefined;
        if (!this.#stopped.signal.aborted) this.#looking = this.#look();
        return this.#looking;
      });
    return this.#next;
  }

  /** Announces the agents once more, although they are the same. */
  tellAgain(): Promise<void> {
    this.#again = true;
    return this.refresh();
  }

  async #serverIsReady(): Promise<void> {
    const { clock } = this.#options;
    const left = this.#toldAt + this.#agents.size * EACH_MS - clock.monotonic();
    if (left > 0) await clock.sleep(left, this.#stopped.signal).catch(() => undefined);
  }

  async #look(): Promise<void> {
    const again = this.#again;
    this.#again = false;
    const agents = await this.#list();
    const before = this.#known;
    const { clock, changed } = this.#options;
    if (this.#note(agents) === before && !again && clock.monotonic() - this.#toldAt < TELL_MS) return;
    try {
      await changed(agents);
      this.#toldAt = clock.monotonic();
    } catch (error) {
      // Tried again with the next look.
      this.#known = "";
      throw error;
    }
  }

  #note(agents: readonly AllowedAgent[]): string {
    this.#known = JSON.stringify(agents);
    this.#agents = new Set(agents.map(({ agentId }) => agentId));
    return this.#known;
  }

  async #list(): Promise<readonly AllowedAgent[]> {
    const { db } = this.#options;
    // Before the VMs: the agent of a VM that is recorded between the queries is then in both lists, not in neither.
    const others = new Set([...(await agentsBeingMade(db)), ...(await agentsUnrecorded(db))]);
    const rows = await db
      .selectFrom("vms")
      .select(["agent_id", "ready"])
      .where("agent_url", "like", "nats:%")
      .orderBy("agent_id")
      .execute();
    const recorded = rows.map(({ agent_id, ready }) => ({ agentId: agent_id as AgentId, lasting: ready }));
    const known = new Set(recorded.map(({ agentId }) => agentId));
    const making = [...others]
      .map((agentId) => ({ agentId: agentId as AgentId, lasting: false }))
      .filter(({ agentId }) => !known.has(agentId));
    return [...recorded, ...making];
  }
}
