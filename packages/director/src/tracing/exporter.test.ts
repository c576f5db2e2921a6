import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterEach, beforeEach, expect, it } from "vitest";
import { otlpExporter } from "./exporter.ts";
import type { Span } from "./span.ts";
import { receiver } from "./testing/receiver.ts";
import { spanOf } from "./testing/span.ts";

const NOW = Date.parse("2026-11-17T12:00:00Z");
const FIVE_SECONDS = 5_000;

let collector: Awaited<ReturnType<typeof receiver>>;
beforeEach(async () => {
  collector = await receiver();
});
afterEach(() => collector.close());

function exporting(url = collector.url) {
  const clock = fakeClock({ start: NOW });
  const lines: string[] = [];
  const exporter = otlpExporter({
    url: new URL(`${url}/v1/traces`),
    headers: { "x-key": "k" },
    resource: { "service.name": "test" },
    clock,
    log: (line) => lines.push(line),
  });
  /** Waits until what is sent after the next five seconds is answered: then the clock is waited on for the next ones alone. */
  const round = async () => {
    const { posts } = collector.seen;
    await clock.advance(FIVE_SECONDS);
    await expect.poll(() => collector.seen.posts).toBeGreaterThan(posts);
    await expect.poll(() => clock.waiting).toBe(1);
  };
  return { clock, lines, exporter, round };
}

const span = (name: string, change: Partial<Span> = {}): Span =>
  spanOf(name, NOW, {
    to: NOW + 1.5,
    attributes: { text: "t", whole: 7, half: 0.5, yes: true, none: undefined },
    ...change,
  });

it("posts what OTLP says, with its headers, once in five seconds", async () => {
  const { exporter, round, lines } = exporting();
  exporter.add(span("a"));
  exporter.add(span("b", { parentId: "00f067aa0ba902b7", kind: "client", error: "no" }));
  await round();
  const { seen } = collector;
  expect(seen.wrong).toEqual([]);
  expect(seen).toMatchObject({ posts: 1, headers: [{ "x-key": "k", "content-type": "application/json" }] });
  expect(seen.spans[0]).toMatchObject({
    name: "a",
    startTimeUnixNano: `${NOW}000000`,
    endTimeUnixNano: `${NOW}${"0".repeat(6)}`.replace(/000000000$/, "001500000"),
    attributes: [
      { key: "text", value: { stringValue: "t" } },
      { key: "whole", value: { intValue: "7" } },
      { key: "half", value: { doubleValue: 0.5 } },
      { key: "yes", value: { boolValue: true } },
    ],
    status: {},
  });
  expect(seen.spans[1]).toMatchObject({
    parentSpanId: "00f067aa0ba902b7",
    kind: 3,
    status: { code: 2, message: "no" },
  });
  await exporter.close();
  expect(lines).toEqual([]);
});

it("sends what is left when it is closed", async () => {
  const { exporter } = exporting();
  exporter.add(span("last"));
  await exporter.close();
  expect(collector.seen.spans.map(({ name }) => name)).toEqual(["last"]);
});

it("keeps spans for a collector that is busy, and tells of it once", async () => {
  const { exporter, round, lines } = exporting();
  collector.seen.status = 503;
  exporter.add(span("kept"));
  await round();
  await round();
  expect(lines).toEqual([expect.stringContaining("traces are not taken")]);
  collector.seen.status = 200;
  await round();
  expect(collector.seen.spans.map(({ name }) => name)).toEqual(["kept"]);
  expect(lines).toEqual([expect.anything(), expect.stringContaining("taken again")]);
  await exporter.close();
});

it("does not send again what is refused for good", async () => {
  const { exporter, round, lines } = exporting();
  collector.seen.status = 400;
  exporter.add(span("refused"));
  await round();
  collector.seen.status = 200;
  exporter.add(span("good"));
  await round();
  expect(collector.seen.spans.map(({ name }) => name)).toEqual(["good"]);
  expect(lines.at(-1)).toContain("1 spans were dropped");
  await exporter.close();
});

it("holds no more than it can, however long the collector is away, and throws nothing", async () => {
  const { exporter, lines } = exporting("http://127.0.0.1:1");
  for (let count = 0; count < 20_000; count += 1) exporter.add(span(`s${count}`));
  await expect.poll(() => lines.length).toBe(1);
  await exporter.close();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("http://127.0.0.1:1");
});
