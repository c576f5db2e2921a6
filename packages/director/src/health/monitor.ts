import { transportOf } from "@slipway/engine/agents/address";
import { display } from "@slipway/engine/model/names";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { scanAndFixParams } from "@slipway/protocol/director/task-params";
import { check } from "@slipway/protocol/schema/check";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { NatsAuthorities } from "../nats/rotation.ts";
import { endResurrections, noteResurrections, type WatchedVm } from "../store/health.ts";
import type { Db } from "../store/schema.ts";
import type { Tasks } from "../tasks/task.ts";
import { AgentNews, SUBJECTS } from "./agent-news.ts";
import type { AlertSink } from "./alert.ts";
import { AlertQueue } from "./alert-queue.ts";
import { Announcer, type NewAlert } from "./announce.ts";
import { AwakeTime } from "./awake.ts";
import { type Channel, type Connection, Hearing } from "./hearing.ts";
import { judge } from "./judge.ts";
import { Memory, type Now } from "./memory.ts";
import { isAsWanted, type Watched } from "./model.ts";
import { Poller, type PollerOptions } from "./poller.ts";
import { type Action, type Decision, decide, type Judged } from "./resurrect.ts";
import { Rounds } from "./rounds.ts";
import type { HealthSettings } from "./settings.ts";
import { Sightings } from "./sightings.ts";
import { type Read, readSituation } from "./situation.ts";
import type { HealthSnapshot } from "./snapshot.ts";
import { upkeepNotes } from "./upkeep.ts";

export interface HealthMonitorOptions {
  readonly db: Db;
  readonly tasks: Pick<Tasks, "enqueue">;
  readonly agents: PollerOptions["agents"];
  /** Channel on which agents on NATS send without being asked; undefined if there are no such agents. */
  readonly channel?: Channel | undefined;
  /** Authorities that agents on NATS are to trust; undefined if there are no such agents. */
  readonly nats?: NatsAuthorities | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: HealthSettings;
  readonly sinks: readonly AlertSink[];
  readonly onError: (error: unknown) => void;
}

const TICK_MS = 1_000;
const LONGEST_ROUND_MS = 10_000;
/** User of the tasks that create new VMs, in the list of tasks. */
const USER = "health-monitor";

/**
 * Watches all instances: asks their agents, compares what they say with what was wanted, tells of what is wrong, and asks
 * for new VMs where that helps. What it asks for is upstream's `scan and fix`, which looks again before it acts.
 */
export class HealthMonitor {
  readonly #options: HealthMonitorOptions;
  readonly #awake: AwakeTime;
  readonly #sightings: Sightings;
  readonly #poller: Poller;
  readonly #memory = new Memory();
  readonly #announcer: Announcer;
  readonly #alerts: AlertQueue;
  readonly #startedAt: number;
  readonly #rounds: Rounds;
  readonly #hearing: Hearing | undefined;
  readonly #news: AgentNews;
  /** Instances that were watched in the last round, by agent. */
  #watched: ReadonlyMap<string, Watched> = new Map();
  #snapshot: HealthSnapshot | undefined;
  #asked = 0;
  /** `AwakeTime`: when most agents were silent last. */
  #cutAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(options: HealthMonitorOptions) {
    const { clock, settings, agents, channel, random, onError } = options;
    const { intervalMs } = settings.limits;
    this.#options = options;
    this.#awake = new AwakeTime(clock);
    this.#sightings = new Sightings(this.#awake, clock);
    this.#hearing = channel && new Hearing(channel, this.#awake);
    this.#poller = new Poller({
      ...{ agents, random, onError, intervalMs, atOnce: settings.atOnce },
      sightings: this.#sightings,
      awake: this.#awake,
      connectionOf: (vm) => this.#connectionOf(vm),
    });
    this.#announcer = new Announcer(intervalMs);
    this.#alerts = new AlertQueue(options.sinks, onError);
    this.#news = new AgentNews({
      ...{ random, onError },
      heartbeats: this.#sightings,
      instanceOf: (agentId) => this.#watched.get(agentId),
      alert: (alert) => this.#alerts.add(alert),
      onNews: () => this.#rounds.hurry(),
    });
    this.#rounds = new Rounds({
      ...{ clock, onError, look: () => this.#look() },
      tickMs: Math.min(TICK_MS, intervalMs / 4),
      roundMs: Math.min(LONGEST_ROUND_MS, intervalMs / 2),
      tick: () => this.#tick(),
    });
    this.#startedAt = clock.now();
  }

  /** Undefined before the first round. */
  snapshot(): HealthSnapshot | undefined {
    return this.#snapshot;
  }

  start(): void {
    this.#rounds.start();
    this.#options.channel?.listen(SUBJECTS, (subject, data) => {
      if (!this.#stopped) this.#news.take(subject, data);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#poller.stop(), this.#rounds.stop(), this.#alerts.stop()]);
  }

  #tick(): void {
    this.#awake.beat();
    this.#hearing?.now();
    this.#news.tick();
    this.#poller.tick();
  }

  #connectionOf({ agentUrl }: WatchedVm): Connection | undefined {
    return transportOf(agentUrl) === "nats" ? this.#hearing?.now() : undefined;
  }

  async #look(): Promise<void> {
    const { db, nats, settings, clock, onError } = this.#options;
    const read = await readSituation(db, onError);
    const upkeep = await upkeepNotes(db, nats, read.watched, clock.now());
    if (this.#stopped) return;
    const { watched, locked } = read;
    const asked = watched.filter(({ vm, ignore, state }) => vm && !ignore && state !== "detached");
    this.#poller.watch(asked.flatMap(({ vm }) => vm ?? []));
    this.#watched = new Map(asked.flatMap((one) => (isOnNats(one) ? [[one.vm.agentId, one]] : [])));
    this.#news.keep(new Set(this.#watched.keys()));
    const now: Now = { awake: this.#awake.now(), at: clock.now() };
    const judged = watched.map((one): Judged => {
      const absentSince = this.#memory.absentSince(one, locked.has(one.deployment), now);
      const known = one.vm === undefined ? undefined : this.#sightings.of(one.vm.agentId);
      const connection = one.vm && this.#connectionOf(one.vm);
      const circumstances = { now: now.awake, absentSince, connection };
      return { watched: one, verdict: judge(one, known, circumstances, settings.limits) };
    });
    const seen = new Map(judged.map((one) => [one.watched.uuid as string, this.#memory.note(one, now)]));
    const decision = decide(judged, this.#situation(read, now), settings.guard);
    if (decision.cut) this.#cutAt = now.awake;
    const begun = await this.#resurrect(decision);
    await this.#forget(judged, read);
    for (const one of judged) this.#tellOf(one, seen.get(one.watched.uuid)?.awake ?? now.awake, read, now);
    this.#tellOfTrouble(decision);
    const connection = this.#hearing?.now();
    const lostMs = connection?.up === false ? now.awake - connection.since : 0;
    this.#alert(this.#announcer.connection(lostMs, this.#watched.size));
    const ids = new Set<string>(watched.map(({ uuid }) => uuid));
    this.#memory.keep(ids);
    this.#announcer.keep(ids);
    this.#snapshot = {
      startedAt: this.#startedAt,
      at: now.at,
      settings,
      paused: read.paused,
      held: decision.fleet,
      meltdowns: decision.meltdowns,
      resurrections: this.#asked,
      upkeep,
      heard: connection && { connected: connection.up, messages: this.#news.heard },
      instances: judged.map(({ watched: one, verdict }) => ({
        watched: one,
        verdict,
        since: verdict.status === "healthy" ? undefined : seen.get(one.uuid)?.at,
        known: one.vm === undefined ? undefined : this.#sightings.of(one.vm.agentId),
        action: begun.get(one.uuid) ?? decision.actions.get(one.uuid),
      })),
    };
  }

  #situation({ watched, open, ...read }: Read, now: Now) {
    const { settings } = this.#options;
    const tasks = new Map(
      open.flatMap(({ task, instances }) => instances.map((uuid) => [uuid, task] as const)),
    );
    const waits = new Map<string, number>();
    for (const one of watched) {
      const wait = this.#memory.waitOf(one, tasks.has(one.uuid), settings.limits.silentMs, now);
      if (wait !== undefined) waits.set(one.uuid, wait);
    }
    return {
      ...read,
      enabled: settings.resurrects,
      open: tasks,
      busy: new Set(open.flatMap(({ deployment }) => (deployment === null ? [] : [deployment]))),
      waits,
      settling: now.awake - this.#cutAt < settings.limits.silentMs,
      down: this.#memory.downWithin(settings.windowMs, watched, now),
    };
  }

  async #resurrect({ heal }: Decision): Promise<ReadonlyMap<string, Action>> {
    const { db, tasks } = this.#options;
    const asked = new Map<string, Action>();
    for (const [deployment, instances] of heal) {
      const uuids = instances.map(({ uuid }) => uuid as string);
      const params = check(scanAndFixParams, { deployment, instances: uuids }, "task");
      if (!params.ok) throw new Error(`bug: ${params.problems.join("; ")}`);
      const task = await tasks.enqueue({
        type: "cck_scan_and_fix",
        description: "scan and fix",
        user: USER,
        deployment,
        params: params.value as JsonObject,
      });
      await noteResurrections(db, uuids, task);
      this.#asked += uuids.length;
      for (const uuid of uuids) asked.set(uuid, { what: `task ${task} replaces its VM`, task });
      this.#alert({
        severity: 4,
        category: "deployment_health",
        source: deployment,
        deployment,
        title: `${deployment}: task ${task} replaces VMs`,
        summary: instances.map(display).join(", "),
      });
    }
    return asked;
  }

  /** A resurrection is over when its instance has been seen to be well since. */
  async #forget(judged: readonly Judged[], { open }: Read): Promise<void> {
    const busy = new Set(open.flatMap(({ instances }) => instances));
    const well = judged.filter(
      ({ watched, verdict }) =>
        watched.resurrection !== undefined &&
        watched.updateCompleted &&
        !busy.has(watched.uuid) &&
        isAsWanted(verdict.status),
    );
    if (well.length > 0)
      await endResurrections(
        this.#options.db,
        well.map(({ watched }) => watched.uuid),
      );
  }

  #tellOf({ watched, verdict }: Judged, since: number, { locked }: Read, now: Now): void {
    this.#alert(
      this.#announcer.instance({
        uuid: watched.uuid,
        name: display(watched),
        deployment: watched.deployment,
        status: verdict.status,
        what: verdict.findings.map(({ what }) => what).join("; "),
        forMs: now.awake - since,
        locked: locked.has(watched.deployment),
      }),
    );
  }

  #tellOfTrouble({ fleet, meltdowns }: Decision): void {
    const troubles = new Map(meltdowns);
    if (fleet !== undefined) troubles.set("", fleet);
    for (const one of new Set([...troubles.keys(), ...this.#announcer.troubled]))
      this.#alert(this.#announcer.trouble(one, troubles.get(one)));
  }

  #alert(alert: NewAlert | undefined): void {
    if (alert === undefined) return;
    const { random, clock } = this.#options;
    this.#alerts.add({
      kind: "alert",
      id: random.uuid(),
      created_at: Math.floor(clock.now() / 1000),
      ...alert,
    });
  }
}

const isOnNats = (one: Watched): one is Watched & { readonly vm: WatchedVm } =>
  one.vm !== undefined && transportOf(one.vm.agentUrl) === "nats";
