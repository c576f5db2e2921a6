import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterEach, beforeEach, expect, it } from "vitest";
import { collectorOf } from "./collector.ts";
import { receiver } from "./testing/receiver.ts";
import { spanOf } from "./testing/span.ts";
import { Tracing } from "./tracing.ts";

const NOW = Date.parse("2026-11-17T12:00:00Z");
const AWAY = "http://127.0.0.1:1";

let one: Awaited<ReturnType<typeof receiver>>;
let other: Awaited<ReturnType<typeof receiver>>;
beforeEach(async () => {
  [one, other] = [await receiver(), await receiver()];
});
afterEach(async () => {
  await one.close();
  await other.close();
});

function tracing() {
  const clock = fakeClock({ start: NOW });
  const lines: string[] = [];
  const traced = new Tracing({ clock, log: (line) => lines.push(line) });
  const use = async (endpoint: string | undefined, headers: Readonly<Record<string, string>> = {}) =>
    traced.use(
      await collectorOf(endpoint === undefined ? undefined : { otlp: { endpoint, headers } }, {
        version: "0.0.0",
        name: "lab",
      }),
    );
  const add = (name: string) => traced.add(spanOf(name, NOW));
  return { clock, lines, traced, use, add };
}

const names = ({ seen }: typeof one) => seen.spans.map(({ name }) => name);

it("sends a collector what was for it when another one takes its place", async () => {
  const { traced, use, add } = tracing();
  await use(one.url);
  add("before");
  await use(other.url);
  await expect.poll(() => names(one)).toEqual(["before"]);
  add("after");
  await traced.close();
  expect(names(one)).toEqual(["before"]);
  expect(names(other)).toEqual(["after"]);
});

it("gives the next one what the one before does not take, and no more than it can hold", async () => {
  const { traced, use, add, lines } = tracing();
  await use(AWAY);
  for (let count = 0; count < 20_000; count += 1) add(`s${count}`);
  await use(other.url);
  await traced.close();
  expect(names(other)).toEqual(Array.from({ length: 8_192 }, (_, count) => `s${count}`));
  expect(lines).toEqual([expect.stringContaining(AWAY)]);
});

it("can be switched on, and off, when what is left is still sent", async () => {
  const { clock, traced, use, add } = tracing();
  add("too early");
  expect(traced.on).toBe(false);
  await use(one.url);
  expect(traced.on).toBe(true);
  add("seen");
  await use(undefined);
  expect(traced.on).toBe(false);
  add("too late");
  await traced.close();
  expect(names(one)).toEqual(["seen"]);
  // Nothing is sent by the clock any more.
  await expect.poll(() => clock.waiting).toBe(0);
});

it("goes on with the same one, whose trouble is logged once, and takes other credentials for it", async () => {
  const { clock, traced, use, add, lines } = tracing();
  await use(one.url, { "x-key": "a" });
  one.seen.status = 503;
  add("kept");
  const round = async () => {
    const { posts } = one.seen;
    await clock.advance(5_000);
    await expect.poll(() => one.seen.posts).toBeGreaterThan(posts);
    await expect.poll(() => clock.waiting).toBe(1);
  };
  await round();
  await use(one.url, { "x-key": "a" });
  await round();
  expect(lines).toEqual([expect.stringContaining("traces are not taken")]);
  one.seen.status = 200;
  await use(one.url, { "x-key": "b" });
  add("new");
  await traced.close();
  expect(names(one)).toEqual(["kept", "new"]);
  expect(one.seen.headers.map((headers) => headers["x-key"])).toEqual(["a", "a", "a", "b"]);
});
