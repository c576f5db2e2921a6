import type { Clock } from "@slipway/kernel/clock";
import { deployment as deploymentWire } from "@slipway/protocol/director/deployment";
import { event as eventWire } from "@slipway/protocol/director/event";
import { type Health, health as healthWire } from "@slipway/protocol/director/health";
import { instance as instanceWire } from "@slipway/protocol/director/instance";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { DocumentCache } from "../api/document-cache.ts";
import { refusalOf } from "../api/refusal.ts";
import { pathSegment } from "../api/request-path.ts";
import { eventOf, isNews } from "./events.ts";
import { instancesOf, type Recorded } from "./instances.ts";
import type { DirectorState, WatchedEvent } from "./model.ts";
import { TaskReader } from "./task-reader.ts";

export interface ReaderTools {
  readonly api: DirectorApi;
  readonly clock: Clock;
  /** Undefined: all. */
  readonly deployment: string | undefined;
}

const KEEP_EVENTS = 100;
/** Interval for changes that no event and no task announces. */
const INSTANCES_MS = 10_000;
const NO_DEPLOYMENT = 70000;

/** Reads what is to be seen, one request after the other, and only what may have changed. */
export class Reader {
  readonly #tools: ReaderTools;
  readonly #kept: DocumentCache;
  readonly #tasks: TaskReader;
  #events: readonly WatchedEvent[] = [];
  #newest = 0;
  #recorded = new Map<string, readonly Recorded[]>();
  readonly #readAt = new Map<string, number>();
  #health: Health | undefined;
  #knowsHealth = true;
  #first = true;

  constructor(tools: ReaderTools) {
    this.#tools = tools;
    this.#kept = new DocumentCache(tools.api);
    this.#tasks = new TaskReader(tools);
  }

  async look(): Promise<DirectorState> {
    const { clock, deployment, api } = this.#tools;
    const tasks = await this.#tasks.look();
    const touched = await this.#readEvents();
    for (const task of tasks) if (task.state !== "queued") touched.add(task.deployment);
    const names = await this.#names();
    await this.#readInstances(names, touched);
    await this.#readHealth();
    this.#first = false;
    return {
      at: clock.now(),
      url: api.url,
      deployment,
      deployments: [...this.#recorded.keys()],
      note: noteOf(this.#health, this.#knowsHealth),
      instances: instancesOf(this.#recorded, this.#health),
      tasks,
      events: this.#events,
      trouble: undefined,
    };
  }

  async #names(): Promise<readonly string[]> {
    const { deployment } = this.#tools;
    if (deployment !== undefined) return [deployment];
    const query = { exclude_configs: "true", exclude_releases: "true", exclude_stemcells: "true" };
    const all = await this.#kept.json(
      { method: "GET", path: "/deployments", query },
      v.array(deploymentWire),
    );
    return all.map(({ name }) => name);
  }

  /** The deployments that new ones are about. */
  async #readEvents(): Promise<Set<string>> {
    const { api, deployment } = this.#tools;
    // Those of the same second come again: some of them may be new.
    const after = this.#newest === 0 ? undefined : String(this.#newest - 1);
    const found = await api.json(
      { method: "GET", path: "/events", query: { deployment, after_time: after } },
      v.array(eventWire),
    );
    const known = new Set(this.#events.map(({ id }) => id));
    const news = found.filter(({ id }) => !known.has(id));
    this.#newest = Math.max(this.#newest, ...found.map(({ timestamp }) => timestamp ?? 0));
    this.#events = [...news.filter(isNews).map(eventOf), ...this.#events].slice(0, KEEP_EVENTS);
    return new Set(news.flatMap((one) => (one.deployment === undefined ? [] : [one.deployment])));
  }

  async #readInstances(names: readonly string[], touched: ReadonlySet<string>): Promise<void> {
    const { clock } = this.#tools;
    const next = new Map<string, readonly Recorded[]>();
    for (const name of names) {
      const before = this.#recorded.get(name);
      const age = clock.now() - (this.#readAt.get(name) ?? Number.NEGATIVE_INFINITY);
      const old = before === undefined || touched.has(name) || age >= INSTANCES_MS;
      const all = old ? await this.#instances(name) : before;
      if (all !== undefined) next.set(name, all);
    }
    this.#recorded = next;
  }

  async #instances(name: string): Promise<readonly Recorded[] | undefined> {
    try {
      const path = `/deployments/${pathSegment(name)}/instances`;
      const all = await this.#kept.json({ method: "GET", path }, v.array(instanceWire));
      this.#readAt.set(name, this.#tools.clock.now());
      return all;
    } catch (error) {
      // Deleted while it was watched. At first, its name is a mistake.
      if (refusalOf(error)?.directorCode === NO_DEPLOYMENT && !this.#first) return undefined;
      throw error;
    }
  }

  async #readHealth(): Promise<void> {
    if (!this.#knowsHealth) return;
    const { deployment } = this.#tools;
    try {
      const query = { full: "true", deployment };
      this.#health = await this.#kept.json({ method: "GET", path: "/health", query }, healthWire);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal?.status !== 404) throw error;
      this.#health = undefined;
      // A Director of another make.
      if (refusal.directorCode !== NO_DEPLOYMENT) this.#knowsHealth = false;
    }
  }
}

function noteOf(health: Health | undefined, known: boolean): string {
  if (!known) return "this Director does not tell how instances are";
  if (health === undefined) return "";
  if (!health.enabled) return "nobody watches instances: health.enabled is false";
  if (health.at === null || health.at === undefined) return "the Director has not looked around yet";
  if (health.resurrection.held) return `VMs are not replaced: ${health.resurrection.held}`;
  return health.resurrection.enabled ? "" : "VMs are not replaced: resurrection is off";
}
