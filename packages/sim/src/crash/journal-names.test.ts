import { describe, expect, it } from "vitest";
import { JournalNames } from "./journal-names.ts";

const begins = (number: number, step: string, ends?: number) => ({
  open: { number, step },
  ...(ends !== undefined && { close: { number: ends } }),
});
/** Names journal entries in the form in which `write_journal` gets them. */
const written = (names: JournalNames, ...entries: readonly object[]) =>
  names.of("write_journal", [1, "owner", 1, JSON.stringify(entries), [], []]);

describe("the names of writes to the journal", () => {
  it("are the same whether entries of several instances share a commit or not", () => {
    const entries = [begins(1, "create_vm"), begins(2, "create_vm"), begins(3, "attach_disk", 1)];
    const [apart, together] = [new JournalNames(), new JournalNames()];
    const names = entries.flatMap((entry) => written(apart, entry));
    expect(names).toEqual([
      "write_journal, create_vm begins",
      "write_journal, create_vm begins",
      "write_journal, create_vm ends, attach_disk begins",
    ]);
    expect(written(together, ...entries)).toEqual(names);
  });

  it("say of an intent of an earlier run that it is one, and of an entry without intents that it records", () => {
    expect(written(new JournalNames(), { close: { number: 7 } }, { events: [] })).toEqual([
      "write_journal, a step begun earlier ends",
      "write_journal, records",
    ]);
  });

  it("are the statement's own for all other writes", () => {
    expect(new JournalNames().of("insert tasks", ["[]"])).toEqual(["insert tasks"]);
  });
});
