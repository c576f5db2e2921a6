import { bundled } from "@slipway/testkit/bundle";
import { replyOf, runCpi, writeConfig } from "@slipway/testkit/executable";
import { EVEN_GROWTH, growth } from "@slipway/testkit/growth";
import { cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { ask, DIRECTOR, typeOf } from "@slipway/testkit/requests";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { tries } from "@slipway/testkit/tries";
import { tempDir } from "@slipway/testkit/waiting";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";

sampleTests(1 / 4);

const fixture = bundled("fixture-cpi.ts", new URL("./testing/", import.meta.url).href);

const INFO = JSON.stringify({ method: "info", arguments: [], context: { director_uuid: DIRECTOR } });
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const withArgument = (json: string) =>
  `{"method":"set_vm_metadata","arguments":["vm-1",${json}],"context":{"director_uuid":"d"}}`;

const manyKeys = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "x".repeat(80)])));

describe("stdin that is no request is answered in words, with exit code 0:", () => {
  it.each<[string, string | Uint8Array, string]>([
    ["nothing", "", "it is empty"],
    ["white space", " \n\t\r\n", "it is empty"],
    ["half a request", INFO.slice(0, 30), "not acceptable JSON"],
    ["half a word", '{"method":"info', "not acceptable JSON"],
    ["two requests", INFO + INFO, "not acceptable JSON"],
    ["a log line before it", `debug: hello\n${INFO}`, "not acceptable JSON"],
    ["an array", "[]", "expected an object, got an array"],
    ["null", "null", "expected an object, got null"],
    ["a word", '"info"', "expected an object, got a string"],
    ["a number", "7", "expected an object, got a number"],
    ["NULs", new Uint8Array(1000), "not acceptable JSON"],
    ["bytes", Uint8Array.from({ length: 4096 }, (_, i) => (i * 197) % 256), "not UTF-8"],
    [
      "a broken character",
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      "not UTF-8",
    ],
    ["compressed data", Buffer.from("H4sIAAAAAAAAA6tWykxRslIqS8wpTVWqBQBZUzDoEAAAAA==", "base64"), "not"],
    ["a hundred thousand arrays", nested(100_000), "nested more than"],
    ["a hundred thousand open arrays", "[".repeat(100_000), "nested more than"],
    ["deep nesting inside an argument", withArgument(nested(5000)), "nested more than"],
    ["a key twice", '{"method":"info","method":"ping","arguments":[]}', 'the key "method" stands twice'],
    ["a key twice inside", withArgument('{"a":1,"a":2}'), 'the key "a" stands twice'],
    ["a __proto__ key", withArgument('{"__proto__":{"polluted":1}}'), "__proto__ key"],
    ["a __proto__ key in disguise", withArgument('{"__pr\\u006fto__":{"polluted":1}}'), "__proto__ key"],
  ])("%s", async (_, input, words) => {
    const { error } = replyOf(await runCpi(fixture(), input));
    expect(error).toMatchObject({ type: typeOf("CpiError"), ok_to_retry: false });
    expect(error?.message).toContain("Request cannot be deserialized, details: ");
    expect(error?.message).toContain(words);
  });

  it.each([
    ["a request of 64 MiB", () => withArgument(`{"x":"${"x".repeat(64 << 20)}"}`)],
    ["64 MiB of nothing in particular", () => Buffer.alloc(64 << 20, "x")],
  ])("%s", async (_, input) => {
    const { error } = replyOf(await runCpi(fixture(), input()));
    expect(error).toMatchObject({ type: typeOf("CpiError"), ok_to_retry: false });
    expect(error?.message).toContain("larger than 32 MiB");
  });

  it("any request that was damaged on the way", async () => {
    const whole = Buffer.from(JSON.stringify(ask("set_vm_metadata", ["vm-1", { name: "é\n" }])));
    const damaged = fc
      .tuple(fc.nat(whole.length), fc.nat(20), fc.uint8Array({ maxLength: 8 }))
      .map(([at, cut, junk]) => Buffer.concat([whole.subarray(0, at), junk, whole.subarray(at + cut)]));
    const dir = await tempDir();
    const args = ["--configFile", await writeConfig(dir, { fixture: { dir } })];
    await fc.assert(
      fc.asyncProperty(damaged, async (input) => void replyOf(await runCpi(fixture(), input, { args }))),
      { numRuns: tries(15) },
    );
  });
});

describe("a request that is wrong inside is answered by its kind:", () => {
  it.each<[string, object, "NotImplemented" | "CpiError", string]>([
    [
      "an unknown method",
      ask("reticulate_splines", []),
      "NotImplemented",
      "Method is not known, got: 'reticulate_splines'",
    ],
    ["a method named like a prototype's", ask("constructor", []), "NotImplemented", "Method is not known"],
    ["too few arguments", ask("create_disk", [1]), "CpiError", "create_disk takes 3"],
    ["too many arguments", ask("has_vm", ["vm-1", 2]), "CpiError", "has_vm takes 1"],
    ["an argument of the wrong type", ask("create_disk", ["1", {}, null]), "CpiError", "arguments[0] (size)"],
    [
      "a version nobody knows",
      ask("has_vm", ["vm-1"], { version: 99 }),
      "NotImplemented",
      "max supported is '3'",
    ],
    ["a version as text", { ...ask("has_vm", ["vm-1"]), api_version: "2" }, "CpiError", "must be an Integer"],
    ["no context", { method: "info", arguments: [] }, "CpiError", "context with director uuid"],
  ])("%s", async (_, request, name, words) => {
    const { error } = replyOf(await runCpi(fixture(), JSON.stringify(request)));
    expect(error).toMatchObject({ type: typeOf(name), ok_to_retry: false });
    expect(error?.message).toContain(words);
  });
});

describe("a request that is right is answered", () => {
  it("writes the reply and a newline to stdout, nothing to stderr, and exits with 0", async () => {
    const run = await runCpi(fixture(), INFO);
    expect(run).toEqual({
      code: 0,
      signal: null,
      stdout:
        '{"result":{"stemcell_formats":["fixture"],"api_version":3,"capabilities":{"repeats_by_request_id":true}},"error":null,"log":""}\n',
      stderr: "",
    });
  });

  it("answers a request that is pretty-printed, has a byte order mark, or ends with a newline", async () => {
    for (const input of [JSON.stringify(JSON.parse(INFO), null, 2), `\ufeff${INFO}`, `${INFO}\n`]) {
      expect(replyOf(await runCpi(fixture(), input)).result).toMatchObject({ api_version: 3 });
    }
  });

  it("answers a request of 16 MiB", async () => {
    const dir = await tempDir();
    const args = ["--configFile", await writeConfig(dir, { fixture: { dir } })];
    const input = withArgument(manyKeys(200_000));
    expect(input.length).toBeGreaterThan(16 << 20);
    expect(replyOf(await runCpi(fixture(), input, { args }))).toEqual({ result: null, error: null, log: "" });
  });

  it("does work that grows as the request does, not faster", async () => {
    const { request } = embed(cloudCpi(new MemoryCloud(), { methods: { setVmMetadata: () => undefined } }));
    const answered = async (size: number) => {
      const { error } = await request(JSON.parse(withArgument(manyKeys(size * 20_000))));
      expect(error).toBeNull();
    };
    expect(await growth(answered)).toBeLessThan(EVEN_GROWTH);
  });

  it("answers without any environment at all", async () => {
    expect(replyOf(await runCpi(fixture(), INFO, { env: {} })).result).toMatchObject({ api_version: 3 });
  });
});
