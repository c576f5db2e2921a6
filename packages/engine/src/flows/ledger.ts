import { toError } from "@slipway/kernel/errors";
import { BadWrite } from "../journal/errors.ts";
import type { IntentKey, IntentRecord, Journal } from "../journal/journal.ts";
import { applyWrites, type Effects, NO_EFFECTS, type Writes } from "../journal/writes.ts";
import type { AuditEvent } from "../model/audit-event.ts";
import type { InstanceRecord } from "../model/records.ts";

/**
 * State of one instance while steps run on it, and the changes that the journal does not have yet. The state is not read again
 * after a write: the task holds the lock, and only it changes the instance.
 */
export class Ledger {
  readonly #journal: Pick<Journal, "commit">;
  #written: InstanceRecord | null | undefined;
  #now: InstanceRecord | null | undefined;
  #effects: Effects = NO_EFFECTS;
  #close: IntentKey | undefined;
  #events: AuditEvent[] = [];
  #lost: Error | undefined;

  /** Without an instance for steps on other things. */
  constructor(journal: Pick<Journal, "commit">, instance?: InstanceRecord | undefined) {
    this.#journal = journal;
    this.#written = instance;
    this.#now = instance;
  }

  get instance(): InstanceRecord | undefined {
    return this.#now ?? undefined;
  }

  write(write: (writes: Writes) => void): void {
    const { instance, effects } = applyWrites(this.#now, this.#effects, write);
    this.#now = instance;
    this.#effects = effects;
  }

  event(event: AuditEvent): void {
    this.#events.push(event);
  }

  /** The step is over; what it changes is written before this is flushed. */
  close(intent: IntentKey): void {
    if (this.#close !== undefined) throw new Error("bug: two outcomes at once");
    this.#close = intent;
  }

  /** The journal has everything, and the intent of what comes next: one round trip. */
  async flush(open?: IntentRecord): Promise<void> {
    const before = this.#written;
    const after = this.#now;
    const changed = before !== undefined && before !== null && before !== after;
    const entry = {
      close: this.#close,
      instance: changed ? { before, after: after ?? null } : undefined,
      effects: this.#effects,
      open,
      events: this.#events,
    };
    const idle = !changed && this.#effects === NO_EFFECTS && this.#events.length === 0;
    if (idle && open === undefined && entry.close === undefined) return;
    if (this.#lost !== undefined) throw this.#lost;
    try {
      await this.#journal.commit(entry);
    } catch (error) {
      // Whether it was written is not known, so nothing may be written on top: who goes on reads the records again.
      if (!BadWrite.is(error)) this.#lost = toError(error);
      throw error;
    }
    this.#written = after;
    this.#effects = NO_EFFECTS;
    this.#close = undefined;
    this.#events = [];
  }
}
