/** JournalEntry of the journal in the form in which it is sent. */
interface SentEntry {
  readonly close?: { readonly number: number };
  readonly open?: { readonly number: number; readonly step: string };
}

const ENTRIES_AT = 3;

/**
 * Names of writes to the journal. Those of several instances share a commit when they come at the same time, which depends
 * on how fast each is: a point is named after the entry, whichever commit it is in.
 */
export class JournalNames {
  readonly #steps = new Map<number, string>();

  /** `values`: what `write_journal` is given. Whatever else is written has its name. */
  of(name: string, values: readonly unknown[]): readonly string[] {
    const entries = values[ENTRIES_AT];
    if (name !== "write_journal" || typeof entries !== "string") return [name];
    return (JSON.parse(entries) as readonly SentEntry[]).map((entry) => `${name}, ${this.#about(entry)}`);
  }

  #about({ open, close }: SentEntry): string {
    if (open !== undefined) this.#steps.set(open.number, open.step);
    const closed = close && `${this.#steps.get(close.number) ?? "a step begun earlier"} ends`;
    const opened = open && `${open.step} begins`;
    return [closed, opened].filter((one) => one !== undefined).join(", ") || "records";
  }
}
