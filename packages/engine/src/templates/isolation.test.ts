import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@slipway/kernel/clock";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { bundle } from "@slipway/testkit/bundle";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { tempDir } from "@slipway/testkit/waiting";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFailure, type Renderer } from "./request.ts";
import { rubyFile, writeSnapshot } from "./ruby-module.ts";
import { WasmRenderer } from "./wasm-renderer.ts";

const CANARY = "hunter2-of-another-team";
/** Remembers every value that `p` gives, in a class that all templates use. */
const SPY = `<% class SlipwayTemplates::DirectorContext
  alias_method :plain_p, :p
  def p(*names) = plain_p(*names).tap { |value| ($seen ||= []) << value }
end %>`;
const SECRET = { password: CANARY };
const LIMIT = 119_000;

const ruby = rubyFile(import.meta.url);
let worker: string;
let pool: WasmRenderer;

beforeAll(async () => {
  worker = await bundle(fileURLToPath(new URL("./render-worker.ts", import.meta.url)), { format: "esm" });
  pool = new WasmRenderer({ worker, ruby, clock: systemClock, threads: 2, limit: LIMIT });
});
afterAll(() => pool.close());

async function rendered(by: Renderer, template: string, properties: JsonObject = {}): Promise<string> {
  const templates = [{ name: "t.erb", source: Buffer.from(template) }];
  const request = { dialect: "director", context: { properties }, templates } as const;
  const [found] = await by.render(request, new AbortController().signal);
  if (found === undefined || isFailure(found)) throw new Error(found?.message);
  return Buffer.from(found.text).toString();
}

/** Renders one template in a renderer of its own. */
async function inOneTask(template: string, properties?: JsonObject): Promise<string> {
  const renderer = pool.open();
  try {
    return await rendered(renderer, template, properties);
  } finally {
    await renderer.close();
  }
}

describe("renderers of one pool", () => {
  it("run no code that a template of another renderer has patched in", async () => {
    await inOneTask(SPY);
    expect(await inOneTask('<%= p("password") %>', SECRET)).toBe(CANARY);
    expect(await inOneTask("<%= $seen.inspect %>")).toBe("nil");
  });

  it("hold no strings of another renderer", async () => {
    await inOneTask('<%= p("password") %>', SECRET);
    // The expression does not match its own source.
    const found = "<%= ObjectSpace.each_object(String).grep(/hunter[2]-of/).size %>";
    expect(await inOneTask(found)).toBe("0");
  });

  it("stay apart while several of them are open and render by turns", async () => {
    const [spy, victim] = [pool.open(), pool.open()];
    await Promise.all([rendered(spy, SPY), rendered(victim, "ready")]);
    const rounds = Array.from({ length: 8 }, () => [
      rendered(victim, '<%= p("password") %>', SECRET),
      rendered(spy, '<%= p("a") %>', { a: 1 }),
    ]);
    await Promise.all(rounds.flat());
    const seen = await Promise.all(
      Array.from({ length: 4 }, () => rendered(spy, "<%= $seen.to_a.uniq.inspect %>")),
    );
    expect(seen.filter((one) => one.includes(CANARY))).toEqual([]);
    expect(await rendered(victim, "<%= $seen.inspect %>")).toBe("nil");
    await Promise.all([spy.close(), victim.close()]);
  });

  it("see files that another renderer's templates have closed or opened as they were", async () => {
    await inOneTask("<% STDOUT.close; STDIN.close %>");
    expect(await inOneTask("<%= STDOUT.closed? %> <%= STDIN.closed? %>")).toBe("false false");
  });

  it("draw different random numbers and tell the time of now", async () => {
    const random = `<%= [rand, Random.rand, Random.seed, Random.new.rand, [*1..99].shuffle, SecureRandom.hex,
      SecureRandom.uuid, OpenSSL::Random.random_bytes(16).unpack1("H*"), OpenSSL::BN.rand(128).to_s].to_json %>`;
    const one: unknown[] = JSON.parse(await inOneTask(random));
    const other: unknown[] = JSON.parse(await inOneTask(random));
    for (const [at, value] of one.entries()) expect(value).not.toEqual(other[at]);
    const before = systemClock.now();
    const now = Number(await inOneTask("<%= (Time.now.to_f * 1000).to_i %>"));
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(systemClock.now());
  });

  it("refuse to render once they are closed", async () => {
    const renderer = pool.open();
    await renderer.close();
    await expect(rendered(renderer, "a")).rejects.toThrow("after the renderer was closed");
  });

  it("are served while more of them wait than the pool has threads", async () => {
    const many = Array.from({ length: 7 }, (_, at) => inOneTask(`<%= ${at} * 2 %>`));
    expect(await Promise.all(many)).toEqual(["0", "2", "4", "6", "8", "10", "12"]);
  });
});

describe("a renderer whose first caller gives up", () => {
  it("loads the Ruby for the callers that wait", async () => {
    const fresh = new WasmRenderer({ worker, ruby, clock: systemClock, threads: 2, limit: LIMIT });
    const leaving = new AbortController();
    const templates = [{ name: "t.erb", source: Buffer.from("a") }];
    const request = { dialect: "director", context: {}, templates } as const;
    const first = fresh.open().render(request, leaving.signal);
    const second = rendered(fresh.open(), "<%= 1 + 1 %>");
    leaving.abort(new Error("canceled"));
    await expect(first).rejects.toThrow("canceled");
    expect(await second).toBe("2");
    await fresh.close();
  });
});

describe("a snapshot file", () => {
  let whole: Buffer;
  beforeAll(async () => {
    const { path, remove } = await temporaryDirectory();
    const snapshot = join(path, "snapshot");
    await writeSnapshot({ ruby, snapshot });
    whole = await readFile(snapshot);
    await remove();
  });

  it.each([
    ["fits", (bytes: Buffer) => bytes],
    ["is cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ["has a changed byte", (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from("!")])],
    [
      "is of another Ruby",
      (bytes: Buffer) => Buffer.from(bytes.toString("latin1").replace(/"key":"./, '"key":"x'), "latin1"),
    ],
  ])("never changes what is rendered if it %s", async (_, change) => {
    const snapshot = join(await tempDir(), "snapshot");
    await writeFile(snapshot, change(whole));
    const one = new WasmRenderer({ worker, ruby, snapshot, clock: systemClock, threads: 1, limit: LIMIT });
    expect(await rendered(one.open(), '<%= p("a").to_yaml %>', { a: [1] })).toBe("---\n- 1\n");
    await one.close();
  });
});
