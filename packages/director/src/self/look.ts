import { statfs } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import type { certificateExpiry } from "@slipway/protocol/director/info";
import type { directorStatus } from "@slipway/protocol/director/status";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import { sql } from "kysely";
import { sinceRestore } from "../store/restores.ts";
import type { Db } from "../store/schema.ts";

export type SelfSeen = ReplyOf<typeof directorStatus>;

export interface SelfParts {
  readonly identity: { readonly name: string; readonly uuid: string; readonly version: string };
  readonly since: number;
  readonly db: Db;
  readonly embedded: boolean;
  readonly stateDir: string;
  readonly workers: () => SelfSeen["workers"];
  readonly certificates: () => readonly ReplyOf<typeof certificateExpiry>[];
  /** Undefined: it has none. */
  readonly nats: { readonly connected: boolean } | undefined;
  readonly problems: () => readonly string[];
  readonly clock: Clock;
}

/** Deadline of the database: callers want to learn that it does not answer. */
const ASK_MS = 3_000;

/** Looks at the Director itself. Unknown values are left open: this never fails. */
export async function lookAtSelf(parts: SelfParts): Promise<SelfSeen> {
  const { name, uuid, version } = parts.identity;
  const [stored, disk] = await Promise.all([database(parts), space(parts.stateDir)]);
  return {
    name,
    uuid,
    version,
    since: Math.floor(parts.since / 1000),
    problems: [...parts.problems()],
    queue: stored?.queue ?? null,
    workers: parts.workers(),
    database: {
      kind: parts.embedded ? "embedded" : "external",
      reachable: stored !== undefined,
      size_bytes: stored?.size ?? null,
      answered_ms: stored?.ms ?? null,
    },
    disk,
    certificates: [...parts.certificates()],
    restored: stored?.restored ?? null,
    nats: parts.nats === undefined ? null : { connected: parts.nats.connected },
  };
}

async function database({ db, clock }: SelfParts) {
  const began = clock.monotonic();
  const late = new AbortController();
  try {
    const asked = Promise.all([ask(db), sinceRestore(db)]);
    const [row, since] = (await Promise.race([asked, clock.sleep(ASK_MS, late.signal)])) ?? [];
    if (row === undefined) return undefined;
    const { size, oldest, ...counts } = row;
    return {
      restored: since && { taken_at: Math.floor(since.takenAt / 1000), not_looked_at: [...since.unseen] },
      queue: {
        queued: Number(counts.queued),
        processing: Number(counts.processing),
        cancelling: Number(counts.cancelling),
        oldest_queued_s: oldest === null ? null : Number(oldest),
      },
      size: Number(size),
      ms: Math.round(clock.monotonic() - began),
    };
  } catch {
    return undefined;
  } finally {
    late.abort();
  }
}

async function ask(db: Db) {
  type Counted = Record<"queued" | "processing" | "cancelling" | "size", string> & { oldest: string | null };
  const { rows } = await sql<Counted>`
    select count(*) filter (where state = 'queued') as queued,
      count(*) filter (where state = 'processing') as processing,
      count(*) filter (where state = 'cancelling') as cancelling,
      extract(epoch from clock_timestamp() - min(created_at) filter (where state = 'queued')) as oldest,
      pg_database_size(current_database()) as size
    from tasks where state in ('queued', 'processing', 'cancelling')`.execute(db);
  return rows[0];
}

async function space(directory: string): Promise<SelfSeen["disk"]> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return { directory, free_bytes: bavail * bsize, size_bytes: blocks * bsize };
  } catch {
    return null;
  }
}
