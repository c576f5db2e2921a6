import { existsSync, readFileSync } from "node:fs";
import { BadYaml, NotAMap } from "@slipway/engine/documents/errors";
import { systemClock } from "@slipway/kernel/clock";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { chosen } from "@slipway/testkit/sample";
import { afterEach, describe, expect, it } from "vitest";
import { type Documents, documentsHere } from "./documents.ts";
import { TooCostly, TooManyDocuments } from "./errors.ts";
import { Gate, HELD } from "./testing/gate.ts";
import { COSTLY, workerScript } from "./testing/worker-script.ts";
import { DocumentWorkers, type WorkersOptions } from "./workers.ts";

const opened: DocumentWorkers[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function workers(options: Partial<WorkersOptions> = {}): Promise<DocumentWorkers> {
  const made = new DocumentWorkers({ script: await workerScript(), clock: systemClock, ...options });
  opened.push(made);
  return made;
}

/** A pattern that needs more time than there is, however short the question is. */
const ENDLESS = {
  schema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    properties: { a: { pattern: "^(a+)+$" } },
  },
  properties: { a: `${"a".repeat(60)}!` },
};

const long = (text: string) => `${text}\n# ${"x".repeat(5000)}`;
const outcome = (asked: Promise<unknown>) =>
  asked.then(
    (value) => ({ value }),
    (error: Error) => ({ error: error.message }),
  );

const SPENT = "/proc/thread-self/schedstat";
const ownTime = () => Number(readFileSync(SPENT, "utf8").split(" ")[0]) / 1e6;
/** Processor time of this thread, in ms: for how long others have the processors does not count, where the kernel tells. */
const spent = existsSync(SPENT) && ownTime() > 0 ? ownTime : () => systemClock.monotonic();

describe("threads that read documents", () => {
  it.each([
    ["a map", "a: {b: [1, yes, ~]}\nname: x"],
    ["a list", "[1, 2]"],
    ["bad YAML", "a: [1\n"],
  ])("answer as the caller's own thread would: %s", async (_, text) => {
    const there = await workers();
    const what = "the manifest";
    const main = { text: long(text), what };
    const before = { main: { text: "a: 1", loose: true as const } };
    const keys = ["name", "constructor"];
    const all = (documents: Documents) =>
      Promise.all([
        outcome(documents.ask("value", main)),
        outcome(documents.ask("keys", { ...main, keys })),
        outcome(documents.ask("difference", { before, after: { main }, redact: true })),
      ]);
    expect(await all(there)).toEqual(await all(documentsHere));
  });

  it("give errors that are known by their kind", async () => {
    const documents = await workers();
    const asked = (text: string) => documents.ask("keys", { text: long(text), what: "it", keys: [] });
    await expect(asked("a: [")).rejects.toSatisfy(BadYaml.is);
    await expect(asked("- a")).rejects.toSatisfy(NotAMap.is);
  });

  it("are ended when a question takes too much processor time, and others are read", async () => {
    const documents = await workers({ threads: 1, limitMs: 300 });
    const first = documents.ask("propertyProblems", ENDLESS);
    const second = documents.ask("value", { text: long("a: 1"), what: "it" });
    await expect(first).rejects.toSatisfy(TooCostly.is);
    await expect(first).rejects.toThrow("it takes more than 0.3 s of processor time");
    expect(await second).toEqual({ a: 1 });
  });

  it.runIf(existsSync("/proc/thread-self/stat"))(
    "are not ended while they wait for a processor: only processor time counts",
    async () => {
      const clock = fakeClock();
      const documents = await workers({ clock, threads: 1, limitMs: 30_000 });
      // The thread is there, and its time counts.
      await documents.ask("value", { text: long("a: 1"), what: "it" });
      const read = documents.ask("value", { text: COSTLY["many keys"] ?? "", what: "it" });
      await clock.advance(300_000);
      expect(Object.keys((await read) as object)).toHaveLength(12_000);
    },
  );

  it("are ended when they hang without using a processor", async () => {
    const clock = fakeClock();
    const documents = await workers({ clock, threads: 1, limitMs: 30_000 });
    const asked = documents.ask("propertyProblems", ENDLESS);
    const refused = expect(asked).rejects.toThrow("it is not read after 600 s");
    await clock.advance(600_000);
    await refused;
  });

  it("are ended when a document takes too much memory, and others are read", async () => {
    const documents = await workers({ threads: 1, memoryMb: 24 });
    const costly = { text: COSTLY["many items"] ?? "", what: "it" };
    await expect(documents.ask("value", costly)).rejects.toSatisfy(TooCostly.is);
    expect(await documents.ask("value", { text: long("a: 1"), what: "it" })).toEqual({ a: 1 });
  });

  it("take a bounded number of questions", async () => {
    const documents = await workers({ threads: 1 });
    const all = Array.from({ length: 102 }, () =>
      outcome(documents.ask("value", { text: long("a: 1"), what: "it" })),
    );
    const refused = (await Promise.all(all)).filter((one) => "error" in one);
    expect(refused).toEqual([{ error: TooManyDocuments({ most: 100 }).message }]);
  });

  it.runIf(chosen("many documents", 1 / 3))(
    "leave the caller free: it waits longer for one document read by itself than for ten read by them",
    async () => {
      const documents = await workers();
      const loose = { main: { text: "", loose: true as const } };
      const compare = (on: typeof documentsHere, text: string) =>
        outcome(on.ask("difference", { before: loose, after: { main: { text, what: "it" } }, redact: true }));
      const keys = Array.from({ length: 8_000 }, (_, i) => `k${i}: 1`).join("\n");
      const longest = async (work: () => Promise<unknown>) => {
        let [most, last] = [0, spent()];
        const look = () => {
          const now = spent();
          most = Math.max(most, now - last);
          last = now;
        };
        const looking = setInterval(look, 5);
        await work();
        clearInterval(looking);
        look();
        return most;
      };
      const here = await longest(() => compare(documentsHere, keys));
      const there = await longest(() =>
        Promise.all(Array.from({ length: 10 }, () => compare(documents, keys))),
      );
      expect(there * 3).toBeLessThan(here);
    },
  );
});

describe("users of the threads that read documents", () => {
  const value = (documents: Documents, text = long("a: 1")) => documents.ask("value", { text, what: "it" });
  const reader = { name: "reader", reader: true };
  const admin = { name: "admin", reader: false };

  it("take turns: one question waits for one of each other user, not for all of theirs", async () => {
    const documents = await workers({ threads: 1 });
    const order: string[] = [];
    const ask = (name: string, as: Documents, times: number) =>
      Array.from({ length: times }, async () => {
        await value(as);
        order.push(name);
      });
    await Promise.all([
      ...ask("reader", documents.askedBy(reader), 12),
      ...ask("admin", documents.askedBy(admin), 1),
      ...ask("task", documents, 1),
    ]);
    expect(order.slice(0, 3).sort()).toEqual(["admin", "reader", "task"]);
  });

  it("never get all threads: tasks and others are served meanwhile", async () => {
    const gate = new Gate();
    const documents = await workers({ script: await gate.script(), clock: fakeClock(), threads: 2 });
    const held = Array.from({ length: 4 }, () => outcome(value(documents.askedBy(admin), HELD)));
    await expect.poll(() => gate.reached).toBeGreaterThan(0);
    const others: unknown[] = [];
    for (const as of [documents, documents.askedBy(reader)])
      void outcome(value(as)).then((answer) => others.push(answer));
    // One user who holds both threads keeps the others from ever being answered.
    await expect.poll(() => others.length === 2 || gate.reached > 1).toBe(true);
    expect({ others, reached: gate.reached }).toEqual({
      others: [{ value: { a: 1 } }, { value: { a: 1 } }],
      reached: 1,
    });
    gate.open();
    expect(await Promise.all(held)).toEqual(Array(4).fill({ value: { a: 1 } }));
  });

  it("wait for the next minute if they may only read and their processor time is used up", async () => {
    const clock = fakeClock();
    const documents = await workers({ clock, readerBudgetMs: 1 });
    const as = documents.askedBy(reader);
    await value(as);
    let answered = false;
    const late = value(as).then(() => {
      answered = true;
    });
    // Others are not affected.
    await value(documents.askedBy({ name: "another", reader: true }));
    await value(documents.askedBy(admin));
    expect(answered).toBe(false);
    await clock.advance(60_000);
    await late;
  });

  it("have a bounded number of questions waiting each, readers fewer", async () => {
    const documents = await workers({ threads: 1 });
    const refused = async (as: Documents, times: number) => {
      const all = Array.from({ length: times }, () => outcome(value(as)));
      return (await Promise.all(all)).filter((one) => "error" in one).length;
    };
    const counts = Promise.all([
      refused(documents.askedBy(reader), 40),
      refused(documents.askedBy(admin), 40),
      refused(documents, 40),
    ]);
    // One of the reader's is under way.
    expect(await counts).toEqual([40 - 17, 40 - 32, 0]);
  });

  it("have a bounded amount of text waiting each", async () => {
    const documents = await workers({ threads: 1 });
    // The thread has this to read before all that follows.
    const busy = value(documents);
    const text = `a: 1\n# ${"x".repeat(6 << 20)}`;
    const asked = Array.from({ length: 3 }, () => outcome(value(documents.askedBy(reader), text)));
    const read = { value: { a: 1 } };
    expect(await Promise.all(asked)).toEqual([read, read, { error: TooManyDocuments({ most: 16 }).message }]);
    await busy;
  });
});
