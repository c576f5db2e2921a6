import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeDirector } from "../testing/fake-director.ts";
import { Client } from "./client.ts";

let director: FakeDirector;
let told: string[];

beforeEach(async () => {
  director = await FakeDirector.start();
  told = [];
});
afterEach(() => director.close());

function client(stop = new AbortController().signal): Client {
  return new Client({
    url: director.url,
    ca: director.ca,
    user: "admin",
    password: "x",
    clock: fakeClock({ hurry: true }),
    stop,
    teller: {
      chunk: (text) => void told.push(text),
      taskBegins: (task) => void told.push(`<${task}>`),
      taskEnds: (_, state, summary) => void told.push(`<${state}${summary === undefined ? "" : ", events"}>`),
      note: (text) => void told.push(`note: ${text}`),
    },
  });
}

const line = (task: string, state: string) =>
  `${JSON.stringify({ time: 1, stage: "Größe", tags: [], task, state })}\n`;

/** The output grows by so many bytes each time it is read. */
function growing(id: number, text: string, bytes: number, states: number): void {
  const whole = Buffer.from(text);
  let asked = 0;
  director.on(`GET /tasks/${id}`, () => {
    const state = ++asked > states ? "done" : "processing";
    return { body: JSON.stringify({ id, state, result: "/x" }) };
  });
  director.on(`GET /tasks/${id}/output`, ({ headers }) => {
    const from = Number(/(\d+)/.exec(headers.range ?? "")?.[1]);
    const now = asked > states ? whole : whole.subarray(0, Math.min(whole.length, asked * bytes));
    if (from >= now.length) return { status: 416 };
    return { status: 206, body: now.subarray(from) as unknown as string };
  });
}

describe("following a task", () => {
  it("tells each event once, however the bytes arrive", async () => {
    const text = line("a", "started") + line("a", "finished") + line("ü", "started");
    growing(7, text, 17, 20);
    expect(await client().follow(7)).toEqual({ id: 7, state: "done", result: "/x" });
    expect(told.join("")).toBe(
      "<7>\nTask 7 | 00:00:01 | Größe: a (00:00:00)\nTask 7 | 00:00:01 | Größe: ü<done, events>",
    );
    const ranges = director.seen.flatMap(({ headers }) => headers.range ?? []);
    expect(ranges[0]).toBe("bytes=0-");
    expect(ranges.at(-1)).toBe(`bytes=${Math.min(Buffer.byteLength(text), 20 * 17)}-`);
  });

  it("tells each event once of a Director that knows no ranges", async () => {
    let asked = 0;
    director
      .on("GET /tasks/7", () => ({ body: JSON.stringify({ id: 7, state: ++asked > 4 ? "done" : "queued" }) }))
      .on("GET /tasks/7/output", { body: line("a", "started") });
    await client().follow(7);
    expect(told.filter((text) => text.includes("Größe"))).toHaveLength(1);
  });

  it("says so when there was no event", async () => {
    director.task("GET /x", 7, {});
    await client().follow(7);
    expect(told).toEqual(["<7>", "<done>"]);
  });

  it("hands on the lines, or nothing, when asked to", async () => {
    director.task("GET /x", 7, { event: line("a", "started") });
    const lines: string[] = [];
    await client().follow(7, { onEvent: (one) => void lines.push(one) });
    await client().follow(7, { quiet: true });
    expect(lines).toEqual([line("a", "started").trimEnd()]);
    expect(told).toEqual([]);
  });

  it("prints another output as it grows, byte for byte", async () => {
    const text = "größer\nund größer";
    growing(7, text, 3, 9);
    const printed: string[] = [];
    await client().follow(7, { raw: { type: "debug", print: (piece) => void printed.push(piece) } });
    expect(printed.join("")).toBe(text);
    expect(printed.length).toBeGreaterThan(3);
    expect(told).toEqual([]);
    expect(director.seen.some(({ url }) => url.endsWith("type=debug"))).toBe(true);
  });

  it.each(["error", "cancelled", "timeout"])(
    "fails for a task that ends as %s, with its events told",
    async (state) => {
      director.task("GET /x", 7, {
        states: ["queued", state],
        event: line("a", "failed"),
        about: { result: "why" },
      });
      await expect(client().follow(7)).rejects.toMatchObject({
        code: "CLI-026",
        message: `task 7 ended as ${state}: why`,
      });
      expect(told.at(-1)).toBe(`<${state}, events>`);
    },
  );

  it.each([
    [undefined, "cut...", "cut...", ""],
    ["short", "longer than that", "longer than that", ""],
    ["cut short of nothing. Next: try --force", "cut...", "cut short of nothing", "Try --force.\n        "],
    ["no answer; next: wait. Next: or go", "no...", "no answer", "Or go.\n        Wait.\n        "],
  ])(
    "that says %j and results in %j tells all there is, what to do apart",
    async (told, result, why, advice) => {
      const event = told && `${JSON.stringify({ time: 1, error: { code: 100, message: told } })}\n`;
      director.task("GET /x", 7, { states: ["error"], about: { result }, ...(event && { event }) });
      await expect(client().follow(7, { quiet: true })).rejects.toMatchObject({
        message: `task 7 ended as error: ${why}`,
        next: `${advice}\`slipway task 7 --debug\` shows what the Director did, \`slipway explain --task 7\` whom it talked to.`,
      });
    },
  );

  it("waits for a Director that is started again, and says so once", async () => {
    let asked = 0;
    const down = () => ++asked < 30 || (asked > 31 && asked < 50);
    director
      .on("GET /tasks/7", () =>
        down()
          ? { cut: true }
          : { body: JSON.stringify({ id: 7, state: asked > 40 ? "done" : "processing" }) },
      )
      .on("GET /tasks/7/output", { status: 204 });
    expect(await client().follow(7)).toMatchObject({ state: "done" });
    expect(told.filter((text) => text.startsWith("note: "))).toEqual([
      `note: The Director at ${director.url} does not answer. Waiting up to 60 s for it to come back; task 7 is not lost.`,
    ]);
  });

  it("does not wait for ever", async () => {
    director.on("GET /tasks/7", { status: 503 });
    await expect(client().follow(7)).rejects.toMatchObject({ code: "CLI-024" });
    expect(director.seen).toHaveLength(121);
  });

  it("ends with Ctrl-C, cancels nothing and says how to go on", async () => {
    const stop = new AbortController();
    director.task("GET /x", 7, { states: ["processing"] }).on("GET /tasks/7/output", () => {
      stop.abort();
      return { status: 204 };
    });
    await expect(client(stop.signal).follow(7)).rejects.toMatchObject({ name: "Interrupted" });
    expect(told.at(-1)).toContain("`slipway task 7` follows it again, `slipway cancel-task 7` cancels it");
    expect(director.seen.every(({ method }) => method === "GET")).toBe(true);
  });
});
