import type { AgentIntroduction, Agents } from "@slipway/engine/agents/agent";
import { isRenewable } from "@slipway/engine/agents/agents";
import type { Blobs } from "@slipway/engine/blobs/blobs";
import type { Clock } from "@slipway/kernel/clock";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { expireExported } from "../artifacts/exported.ts";
import { findExported } from "../artifacts/find-unused.ts";
import { logSink } from "../health/log-sink.ts";
import { HealthMonitor, type HealthMonitorOptions } from "../health/monitor.ts";
import { healthSettings } from "../health/settings.ts";
import { webhookSink } from "../health/webhook-sink.ts";
import type { NatsAuthorities } from "../nats/rotation.ts";
import { type LocalDns, renewedDns } from "../operations/dns/records.ts";
import { tellBehind } from "../operations/dns/tell.ts";
import { expireLogs } from "../operations/log-blobs.ts";
import { scheduledJobs } from "../schedule/jobs.ts";
import { Scheduler } from "../schedule/scheduler.ts";
import { latestDns } from "../store/dns.ts";
import { deleteOldEvents } from "../store/events.ts";
import { behind } from "../store/nats-authorities.ts";
import type { Db } from "../store/schema.ts";
import { deleteOldTasks, dropOldOutputs } from "../tasks/retention.ts";
import type { Tasks } from "../tasks/task.ts";
import { certificateOf } from "../variables/open.ts";

type BackgroundJobs = Omit<UpkeepOptions, "retain" | "agents"> &
  Pick<DnsSyncOptions, "dns"> & {
    readonly agents: UpkeepOptions["agents"] & DnsSyncOptions["agents"];
    readonly blobs: Blobs;
    readonly limits: NonNullable<DirectorConfig["director"]>;
    /** Called after a task was queued by schedule. */
    readonly wake: () => void;
    readonly atClose: (close: () => Promise<void> | void) => void;
  };

/** Starts the background jobs of the Director, except health: upkeep, schedules, names. */
export function startBackgroundJobs({ blobs, limits, wake, atClose, ...parts }: BackgroundJobs): void {
  const { db, clock, agents, dns, onError } = parts;
  const upkeep = new Upkeep({ ...parts, retain: () => retain({ db, blobs, limits, now: clock.now() }) });
  upkeep.start();
  atClose(() => upkeep.stop());
  const scheduler = new Scheduler({ db, clock, jobs: scheduledJobs(limits, clock), wake, onError });
  scheduler.start();
  atClose(() => scheduler.stop());
  if (!dns.enabled) return;
  const dnsSync = new DnsSync({ db, agents, dns, clock, onError });
  dnsSync.start();
  atClose(() => dnsSync.stop());
}

interface UpkeepOptions {
  readonly db: Db;
  readonly tasks: Tasks;
  readonly clock: Clock;
  readonly agents: Pick<AgentIntroduction, "signerEnds">;
  /** Undefined: no agent is reached over NATS. */
  readonly nats?: NatsAuthorities | undefined;
  /** Deletes what is too old or too much. */
  readonly retain?: (() => Promise<void>) | undefined;
  /** Sees that the API's certificate is valid, and replaces it in time. */
  readonly renewCertificate?: (() => Promise<void>) | undefined;
  readonly onError: (error: unknown) => void;
}

const UPKEEP_MS = 5 * 60_000;
const UPKEEP_USER = "scheduler";

/** Does the upkeep of every few minutes: certificates, and what need not be kept any longer. */
export class Upkeep {
  readonly #options: UpkeepOptions;
  #cancel = () => {};
  #stopped = false;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancel = this.#options.clock.after(UPKEEP_MS, () => {
      void this.#look()
        .catch(this.#options.onError)
        .finally(() => {
          if (!this.#stopped) this.start();
        });
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #look(): Promise<void> {
    const { tasks } = this.#options;
    await this.#options.renewCertificate?.();
    // What cannot be deleted today does not keep certificates from being renewed.
    await this.#options.retain?.().catch(this.#options.onError);
    const rotate = this.#authorityDue();
    if (rotate || (await this.#certificateDue()) || (await this.#trustDue()))
      await tasks.enqueue({
        type: "renew_certificates",
        description: rotate ? "rotate the authority of NATS" : "renew certificates",
        user: UPKEEP_USER,
        params: rotate ? { rotate_nats_ca: "when_due" } : {},
      });
  }

  /** Reports whether a new authority is due. One that takes over already is not requested again. */
  #authorityDue(): boolean {
    const own = this.#options.nats?.own;
    return own !== undefined && own.now().next === undefined && own.endsSoon();
  }

  /** Reports whether an agent on NATS is to trust other authorities than it does, or all do and the old one can go. */
  async #trustDue(): Promise<boolean> {
    const { db, nats } = this.#options;
    if (nats === undefined) return false;
    const { mark, next } = nats.now();
    const { agents, making } = await behind(db, mark);
    if (agents.some(({ active, ignored }) => active && !ignored)) return true;
    return next !== undefined && agents.length === 0 && making === 0;
  }

  async #certificateDue(): Promise<boolean> {
    const { db, clock, agents } = this.#options;
    const rows = await db
      .selectFrom("vms")
      .select(({ fn, eb }) => [
        eb("agent_url", "like", "nats:%").as("onNats"),
        fn.min("certificate_until").as("until"),
      ])
      .where("active", "=", true)
      .groupBy("onNats")
      .execute();
    return rows.some(
      ({ onNats, until }) =>
        until !== null &&
        isRenewable(until.getTime(), clock.now(), agents.signerEnds(onNats ? "nats" : "https")),
    );
  }
}

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
export const bytesOfMib = (given: number | undefined): number | undefined =>
  given === undefined ? undefined : given * MIB;

/** Deletes what is too old or too much, as the configuration says. Upstream's numbers where it has them. */
export async function retain({
  db,
  blobs,
  limits,
  now,
}: {
  readonly db: Db;
  readonly blobs: Blobs;
  readonly limits: NonNullable<DirectorConfig["director"]>;
  readonly now: number;
}): Promise<void> {
  const deployments = limits.tasks_deployments_retention_period?.map(
    ({ deployment_name: name, retention_period: days }) => ({ name, days }),
  );
  const tasks = { perType: limits.keep_tasks ?? 2000, days: limits.tasks_retention_period, deployments };
  await deleteOldTasks(db, tasks, now);
  await dropOldOutputs(db, (limits.all_task_outputs_mib ?? 4096) * MIB);
  await deleteOldEvents(db, limits.keep_events ?? 10_000);
  await expireLogs(blobs, limits.log_days ?? 10, now);
  const days = limits.exported_release_days;
  if (days !== undefined) await expireExported(await findExported({ db, blobs }), blobs, now - days * DAY_MS);
}

interface DnsSyncOptions {
  readonly db: Db;
  readonly agents: Agents;
  readonly dns: LocalDns;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Returns the settings of local DNS, with the defaults of upstream. */
export const localDnsOf = ({ local_dns: given }: DirectorConfig): LocalDns => ({
  enabled: given?.enabled ?? false,
  domain: given?.domain ?? "bosh",
  useDnsAddresses: given?.use_dns_addresses ?? false,
  includeIndex: given?.include_index ?? false,
});

/** Interval of upstream. */
const DNS_SYNC_MS = 10_000;
/** Rounds between checks of the records against the instances: every five minutes. Successful tasks renew them, too. */
const ROUNDS_PER_DNS_CHECK = 30;

/** Tells agents of DNS records that did not take them when they were made. */
export class DnsSync {
  readonly #options: DnsSyncOptions;
  readonly #stopped = new AbortController();
  #cancel = () => {};
  #looking = Promise.resolve();
  #rounds = 0;

  constructor(options: DnsSyncOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancel = this.#options.clock.after(DNS_SYNC_MS, () => {
      this.#looking = this.#look()
        .catch((error: unknown) => {
          if (!this.#stopped.signal.aborted) this.#options.onError(error);
        })
        .finally(() => {
          if (!this.#stopped.signal.aborted) this.start();
        });
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancel();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { db, agents, dns, clock } = this.#options;
    const latest =
      this.#rounds % ROUNDS_PER_DNS_CHECK === 0 ? (await renewedDns(db, dns)).now : await latestDns(db);
    this.#rounds += 1;
    if (latest === undefined) return;
    await tellBehind(latest, {
      agents,
      db,
      clock,
      signal: this.#stopped.signal,
      write: (work) => work(db),
      // A silent agent is asked again and again: that is not worth a line each time.
      debug: () => undefined,
    });
  }
}

/** Opens the health monitor; undefined if the configuration disables it. */
export async function openHealth(
  health: DirectorConfig["health"] = {},
  parts: Omit<HealthMonitorOptions, "settings" | "sinks">,
  log: (line: string) => void,
): Promise<HealthMonitor | undefined> {
  if (health.enabled === false) return undefined;
  const { webhook } = health;
  const sinks = [logSink(log)];
  if (webhook !== undefined)
    sinks.push(
      webhookSink({
        url: webhook.url,
        ca: await certificateOf("health.webhook.ca", webhook.ca),
        authorization: webhook.authorization,
        clock: parts.clock,
      }),
    );
  return new HealthMonitor({ ...parts, settings: healthSettings(health), sinks });
}
