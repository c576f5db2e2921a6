import type { AuditEvent } from "@slipway/engine/model/audit-event";
import type { Clock } from "@slipway/kernel/clock";
import type { lock } from "@slipway/protocol/director/lock";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import { type QueryResult, type RawBuilder, sql } from "kysely";
import { type Lease, leaseLostAs, mine } from "../store/lease.ts";
import type { Db } from "../store/schema.ts";
import { LockLost, LockTaken } from "./errors.ts";
import type { Notifier } from "./notifier.ts";

export const deploymentLock = (deployment: string): string => `lock:deployment:${deployment}`;
export const instanceLock = (uuid: string): string => `lock:instance:${uuid}`;

const EXPIRY_MS = 240_000;
const PURGE_AFTER_S = 60;
const FIRST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 500;
/** Longest wait for a resurrection. It was not requested by an operator, so it does not make an operator's task fail. */
const LONGEST_RESURRECTION_MS = 1_800_000;

export interface LockOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Default: 240 s, as upstream. */
  readonly expiryMs?: number | undefined;
  /** Locks that were lost while they were held. */
  readonly onLost: (error: Error) => void;
  /**
   * Reports whether the task goes on later or elsewhere, and keeps its locks. `error` is what ended the work, if anything did.
   */
  readonly keep: (error: unknown) => boolean;
  readonly onError: (error: unknown) => void;
  /** Receives once the resurrection that the task waits for longer than requested. */
  readonly waits?: ((message: string) => void) | undefined;
  /** Fires when any lock is released. */
  readonly released: Notifier;
  /** Writes an event for `bosh events`. */
  readonly audit?: ((event: AuditEvent) => Promise<unknown>) | undefined;
}

/**
 * The locks of one run of a task. A lock belongs to its task: the next run of the same task takes it over, others get it
 * when the task has let go or ended. Expiry alone frees it only if its task no longer runs.
 */
export class TaskLocks {
  readonly #db: Db;
  readonly #lease: Lease;
  readonly #options: LockOptions;
  readonly #owner: string;
  readonly #held = new Set<string>();

  constructor(db: Db, lease: Lease, options: LockOptions) {
    this.#db = db;
    this.#lease = lease;
    this.#options = options;
    this.#owner = `${lease.owner}#${lease.taskId}.${lease.attempt}`;
  }

  async withLock<T>(name: string, waitMs: number, work: () => Promise<T>): Promise<T> {
    await this.#take(name, waitMs);
    this.#held.add(name);
    let failure: unknown;
    try {
      await this.#options.audit?.(lockEvent("acquire", name));
      const result = await work();
      if (!this.#held.has(name)) throw this.#lost(name);
      return result;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      await this.#release(name, failure);
    }
  }

  /** Keeps what is held, and notices what is not any more. */
  async renew(): Promise<void> {
    const before = [...this.#held];
    if (before.length === 0) return;
    const { rows } = await this.#fenced<{ name: string }>(
      (held) => sql`${held} update locks set expires_at = ${this.#expiry()} from mine
        where mine.held and owner = ${this.#owner} returning name`,
    );
    const still = new Set(rows.map((row) => row.name));
    for (const name of before) {
      if (still.has(name) || !this.#held.delete(name)) continue;
      const error = this.#lost(name);
      this.#options.onLost(error);
      // The task ends with this error, even if the event cannot be written.
      await this.#options
        .audit?.({ ...lockEvent("lost", name), error: error.message })
        .catch((why: unknown) => this.#options.onError(why));
    }
  }

  async #take(name: string, waitMs: number): Promise<void> {
    const { clock, signal, released } = this.#options;
    const start = clock.monotonic();
    let waitedFor: number | undefined;
    for (let delay = FIRST_WAIT_MS; ; delay = Math.min(delay * 2, LONGEST_WAIT_MS)) {
      signal.throwIfAborted();
      if (await this.#tryTake(name)) return;
      const waited = clock.monotonic() - start;
      const left = waitMs - waited;
      if (left <= 0) {
        const resurrection =
          waitMs > 0 && waited < LONGEST_RESURRECTION_MS ? await this.#resurrection(name) : undefined;
        if (resurrection === undefined) throw await this.#taken(name);
        if (resurrection !== waitedFor)
          this.#options.waits?.(`Waiting for task ${resurrection}, which replaces VMs of ${whatOf(name)}`);
        waitedFor = resurrection;
      }
      await released.wait(left <= 0 ? delay : Math.min(delay, left), clock, signal);
    }
  }

  /** Returns the task that holds the lock, if it is a resurrection. */
  async #resurrection(name: string): Promise<number | undefined> {
    const row = await this.#db
      .selectFrom("locks as l")
      .innerJoin("tasks as t", "t.id", "l.task_id")
      .select("t.id")
      .where("l.name", "=", name)
      .where("t.type", "=", "cck_scan_and_fix")
      .where("t.state", "=", "processing")
      .executeTakeFirst();
    return row?.id;
  }

  async #tryTake(name: string): Promise<boolean> {
    const { rows } = await this.#fenced<{ name: string }>(
      (held) => sql`${held}
      insert into locks as held (name, task_id, owner, acquired_at, expires_at)
      select ${name}, ${this.#lease.taskId}::bigint, ${this.#owner}, clock_timestamp(), ${this.#expiry()}
      from mine where mine.held
      on conflict (name) do update set
        acquired_at = case when held.task_id = excluded.task_id then held.acquired_at else excluded.acquired_at end,
        task_id = excluded.task_id, owner = excluded.owner, expires_at = excluded.expires_at
      where (held.task_id = excluded.task_id and held.owner <> excluded.owner) or ${abandoned("held")}
      returning name`,
    );
    return rows.length > 0;
  }

  /** Runs a statement on locks only while this run has its lease. After a takeover the locks are the next run's. */
  async #fenced<T>(statement: (held: RawBuilder<unknown>) => RawBuilder<T>): Promise<QueryResult<T>> {
    try {
      return await statement(mine(this.#lease)).execute(this.#db);
    } catch (error) {
      throw leaseLostAs(error, this.#lease.taskId);
    }
  }

  async #taken(name: string): Promise<Error> {
    const { rows } = await sql<Holder>`
      select locks.task_id, tasks.description, tasks.username, acquired_at, clock_timestamp() as now
      from locks left join tasks on tasks.id = locks.task_id where name = ${name}`.execute(this.#db);
    return LockTaken({ what: whatOf(name), ...holderOf(rows[0]) });
  }

  async #release(name: string, failure: unknown): Promise<void> {
    if (!this.#held.delete(name) || this.#options.keep(failure)) return;
    try {
      await this.#fenced(
        (held) => sql`${held} delete from locks using mine
          where mine.held and name = ${name} and owner = ${this.#owner}`,
      );
      await this.#options.audit?.(lockEvent("release", name));
    } catch (error) {
      // It goes with the end of the task at the latest.
      this.#options.onError(error);
    }
  }

  #lost(name: string): Error {
    return LockLost({ what: whatOf(name), task: this.#lease.taskId });
  }

  #expiry() {
    return sql<Date>`clock_timestamp() + ${this.#options.expiryMs ?? EXPIRY_MS} * interval '1 millisecond'`;
  }
}

const lockEvent = (action: "acquire" | "release" | "lost", name: string): AuditEvent => {
  const { type, resource } = parts(name);
  const event = { action, objectType: "lock", objectName: name };
  // As upstream: a package is compiled for the task's deployment, a release belongs to none.
  if (type === "compile") return event;
  return { ...event, deployment: type === "deployment" ? resource.join(":") : undefined };
};

/** Expired, and its task will not come back for it. */
const abandoned = (table: string) => sql<boolean>`(
  ${sql.ref(`${table}.expires_at`)} < clock_timestamp() and not exists (
    select from tasks where tasks.id = ${sql.ref(`${table}.task_id`)}
      and tasks.state in ('queued', 'processing', 'cancelling')))`;

interface Holder {
  readonly task_id: number;
  readonly description: string | null;
  readonly username: string | null;
  readonly acquired_at: Date;
  readonly now: Date;
}

function holderOf(row: Holder | undefined): { holder: string; since: string } {
  if (row === undefined) return { holder: "a task that has just ended", since: "a moment ago" };
  const about = row.description === null ? "" : ` (${row.description}, ${row.username ?? "unknown"})`;
  const [day, time] = row.acquired_at.toISOString().split("T") as [string, string];
  const today = row.now.toISOString().startsWith(day);
  return {
    holder: `task ${row.task_id}${about}`,
    since: `${today ? "" : `${day} `}${time.slice(0, 8)} UTC`,
  };
}

/** `lock:deployment:shop` is deployment 'shop'. */
function whatOf(name: string): string {
  const { type, resource } = parts(name);
  return `${type} '${resource.join("/")}'`;
}

function parts(name: string): { type: string; resource: readonly string[] } {
  const [type = "", ...resource] = name.replace(/^lock:/, "").split(":");
  return { type, resource };
}

/** `GET /locks`: the CLI wants both numbers as strings. */
type LockWire = ReplyOf<typeof lock>;

export async function listLocks(db: Db): Promise<readonly LockWire[]> {
  await sql`delete from locks where ${abandoned("locks")}
    and expires_at < clock_timestamp() - ${PURGE_AFTER_S} * interval '1 second'`.execute(db);
  const rows = await db.selectFrom("locks").selectAll().orderBy("name").execute();
  return rows.map((row) => ({
    ...parts(row.name),
    timeout: (row.expires_at.getTime() / 1000).toFixed(6),
    task_id: String(row.task_id),
  }));
}
