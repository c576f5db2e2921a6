import type { Clock } from "@slipway/kernel/clock";
import type { OutputType } from "@slipway/protocol/director/task";
import { sql } from "kysely";
import { type Lease, LeaseLost, leaseLostAs, mine } from "../store/lease.ts";
import type { Db } from "../store/schema.ts";
import { Tail } from "./tail.ts";

/** Types that grow while the task runs. `result` is written with its end. */
type GrowingType = Exclude<OutputType, "result">;
const GROWING: readonly GrowingType[] = ["event", "debug", "cpi", "conversation"];
const BOUNDED: readonly GrowingType[] = ["debug", "cpi", "conversation"];

const MIB = 1024 * 1024;
const FLUSH_AT = 64 * 1024;
/** Largest size of the line between beginning and end. */
const NOTE_BYTES = 128;
const LONGEST_CHARACTER = 4;

export interface OutputOptions {
  readonly clock: Clock;
  /** Longest time a line waits for others. Default: 100 ms. */
  readonly flushMs?: number | undefined;
  /** Most bytes of `debug`, of `cpi` and of `conversation`: the beginning and the end. Default: 32 MiB. */
  readonly limitBytes?: number | undefined;
  /** The lease is lost; nothing is written any more. */
  readonly onLost: () => void;
  readonly onError: (error: unknown) => void;
}

interface Piece {
  readonly type: GrowingType;
  readonly start: number;
  readonly data: Buffer;
}

/** Writes the outputs of one run of a task. Offsets go on where the run before it, crashed or not, has stopped. */
export class TaskOutput {
  readonly #db: Db;
  readonly #lease: Lease;
  readonly #options: OutputOptions;
  readonly #sizes: Map<GrowingType, number>;
  readonly #pending = new Map<GrowingType, { parts: string[]; length: number }>();
  /** Text that came after the beginning was full; its last part is written when the task ends. */
  readonly #tails = new Map<GrowingType, Tail>();
  #ending = false;
  /** Sent, and perhaps written: sent again unchanged until that is known. */
  #batch: readonly Piece[] = [];
  #flushing: Promise<unknown> = Promise.resolve();
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  private constructor(db: Db, lease: Lease, options: OutputOptions, sizes: Map<GrowingType, number>) {
    this.#db = db;
    this.#lease = lease;
    this.#options = options;
    this.#sizes = sizes;
  }

  static async open(db: Db, lease: Lease, options: OutputOptions): Promise<TaskOutput> {
    const { rows } = await sql<{ type: GrowingType; size: number }>`
      select type, max(start + length(data)) as size from task_output
      where task_id = ${lease.taskId} group by type`.execute(db);
    return new TaskOutput(db, lease, options, new Map(rows.map((row) => [row.type, Number(row.size)])));
  }

  append(type: GrowingType, text: string): void {
    if (this.#closed || text === "") return;
    if (this.#isFull(type) && !this.#pending.has(type)) {
      this.#tail(type).add(text);
      return;
    }
    const pending = this.#pending.get(type) ?? { parts: [], length: 0 };
    pending.parts.push(text);
    pending.length += text.length;
    this.#pending.set(type, pending);
    if (pending.length >= FLUSH_AT) this.#flushSoon(0);
    else if (this.#cancelTimer === undefined) this.#flushSoon(this.#options.flushMs ?? 100);
  }

  /** Writes everything appended so far to the database, unless the lease is lost. */
  flush(last = false): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const mine = this.#flushing.then(() => this.#write(last));
    this.#flushing = mine.catch(() => undefined);
    return mine;
  }

  /** The task is over: what came last is written as well. */
  end(): Promise<void> {
    this.#ending = true;
    return this.flush(true);
  }

  /** Takes nothing more. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#pending.clear();
  }

  #flushSoon(ms: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.after(ms, () => {
      this.flush().catch((error: unknown) => {
        this.#options.onError(error);
        if (!this.#closed && this.#cancelTimer === undefined) this.#flushSoon(1000);
      });
    });
  }

  async #write(last: boolean): Promise<void> {
    for (;;) {
      if (this.#batch.length === 0) this.#batch = this.#take(last);
      if (this.#batch.length === 0) return;
      if (!(await put(this.#db, this.#lease, this.#batch))) {
        this.#batch = [];
        this.close();
        this.#options.onLost();
        return;
      }
      for (const piece of this.#batch) this.#sizes.set(piece.type, piece.start + piece.data.length);
      this.#batch = [];
    }
  }

  #take(last: boolean): readonly Piece[] {
    const pieces: Piece[] = [];
    for (const type of GROWING) {
      const text = this.#pending.get(type)?.parts.join("") ?? "";
      // Half a character waits for its other half.
      const whole = !last && /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
      this.#pending.delete(type);
      if (whole.length < text.length)
        this.#pending.set(type, { parts: [text.slice(whole.length)], length: 1 });
      const start = this.#size(type);
      const head = this.#head(type, start, Buffer.from(whole));
      const data = this.#ending ? Buffer.concat([head, this.#lastOf(type, start + head.length)]) : head;
      if (data.length > 0) pieces.push({ type, start, data });
    }
    return pieces;
  }

  /** Returns as much as belongs to the beginning. */
  #head(type: GrowingType, start: number, data: Buffer): Buffer {
    const room = this.#room(type);
    if (data.length === 0 || start + data.length <= room) return data;
    let end = this.#isFull(type) ? 0 : room - start;
    while (end > 0 && isInsideCharacter(data, end)) end -= 1;
    this.#tail(type).add(data.subarray(end).toString());
    return data.subarray(0, end);
  }

  /** Returns the end, after a line that says how much is missing. What a killed run before this one dropped is not counted. */
  #lastOf(type: GrowingType, start: number): Buffer {
    const tail = this.#tails.get(type);
    this.#tails.delete(type);
    if (tail === undefined) return Buffer.alloc(0);
    const { text, dropped } = tail.taken();
    const note = `\n[cut here: no more than ${sizeText(this.#limit())} are kept; ${dropped} bytes are left out]\n`;
    const last = Buffer.from(note + text);
    // A run before this one has ended it, and could not write that.
    return start + last.length <= this.#limit() ? last : Buffer.alloc(0);
  }

  #tail(type: GrowingType): Tail {
    const tail = this.#tails.get(type) ?? new Tail(this.#tailBytes());
    this.#tails.set(type, tail);
    return tail;
  }

  #tailBytes(): number {
    return Math.min(MIB, Math.floor(this.#limit() / 4));
  }

  /** The end of the beginning. */
  #room(type: GrowingType): number {
    if (!BOUNDED.includes(type)) return Number.POSITIVE_INFINITY;
    return this.#limit() - this.#tailBytes() - NOTE_BYTES;
  }

  /** A character may have been too long for the last bytes. */
  #isFull(type: GrowingType): boolean {
    return this.#size(type) > this.#room(type) - LONGEST_CHARACTER;
  }

  #size(type: GrowingType): number {
    return this.#sizes.get(type) ?? 0;
  }

  #limit(): number {
    return this.#options.limitBytes ?? 32 * MIB;
  }
}

const isInsideCharacter = (data: Buffer, at: number) => ((data[at] ?? 0) & 0xc0) === 0x80;
const sizeText = (bytes: number) => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`);

/** Writes the pieces in one statement, while the lease is known to hold. */
async function put(db: Db, lease: Lease, pieces: readonly Piece[]): Promise<boolean> {
  const rows = pieces.map(
    (piece) => sql`(${piece.type}::text, ${piece.start}::bigint, ${piece.data}::bytea)`,
  );
  try {
    await sql`
      ${mine(lease)}
      insert into task_output (task_id, type, start, data)
      select ${lease.taskId}, piece.type, piece.start, piece.data
      from mine, (values ${sql.join(rows)}) as piece (type, start, data)
      where mine.held on conflict do nothing`.execute(db);
    return true;
  } catch (thrown) {
    const error = leaseLostAs(thrown, lease.taskId);
    if (LeaseLost.is(error)) return false;
    throw error;
  }
}

/** The bytes from `fromByte` on, and how many there are in all. */
export async function readOutput(
  db: Db,
  taskId: number,
  type: OutputType,
  fromByte = 0,
): Promise<{ readonly data: Buffer; readonly size: number }> {
  // From the piece that holds `fromByte`, or the last one: so there is always the size.
  const { rows } = await sql<{ start: number; data: Buffer }>`
    select start, data from task_output
    where task_id = ${taskId} and type = ${type} and start >= (
      select coalesce(max(start), 0) from task_output
      where task_id = ${taskId} and type = ${type} and start <= ${fromByte})
    order by start`.execute(db);
  const first = rows[0];
  if (first === undefined) return { data: Buffer.alloc(0), size: 0 };
  const data = Buffer.concat(rows.map((row) => row.data));
  const begin = Number(first.start);
  return { data: data.subarray(Math.max(0, fromByte - begin)), size: begin + data.length };
}
