import { existsSync, readFileSync } from "node:fs";
import { BadYaml, NotAMap } from "@slipway/engine/documents/errors";
import { systemClock } from "@slipway/kernel/clock";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { chosen } from "@slipway/testkit/sample";
import { afterEach, describe, expect, it } from "vitest";
import { type Documents, documentsHere } from "./documents.ts";
import { TooCostly, TooManyDocuments } from "./errors.ts";
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

  it("are ended when a document takes too long, and others are read", async () => {
    const clock = fakeClock();
    const documents = await workers({ clock, threads: 1, limitMs: 1000 });
    const first = documents.ask("value", { text: COSTLY["many keys"] ?? "", what: "it" });
    const second = documents.ask("value", { text: long("a: 1"), what: "it" });
    clock.advance(1000);
    await expect(first).rejects.toSatisfy(TooCostly.is);
    expect(await second).toEqual({ a: 1 });
  });

  it("are ended when a pattern of a schema takes too long, however short it is", async () => {
    const clock = fakeClock();
    const documents = await workers({ clock, threads: 1, limitMs: 1000 });
    const schema = { $schema: "https://json-schema.org/draft/2020-12/schema", properties: {} };
    const endless = { ...schema, properties: { a: { pattern: "^(a+)+$" } } };
    const first = documents.ask("propertyProblems", {
      schema: endless,
      properties: { a: `${"a".repeat(60)}!` },
    });
    const second = documents.ask("propertyProblems", { schema, properties: {} });
    clock.advance(1000);
    await expect(first).rejects.toSatisfy(TooCostly.is);
    expect(await second).toEqual([]);
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
