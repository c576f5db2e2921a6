import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { bundle } from "@slipway/testkit/bundle";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dialect, isFailure, type Renderer } from "./request.ts";
import { rubyFile } from "./ruby-module.ts";
import { systemRuby } from "./system-ruby.ts";
import { CONSTRUCTS, CONTEXT, CREATE_ENV, FAILURES } from "./testing/constructs.ts";
import { WasmRenderer } from "./wasm-renderer.ts";

sampleTests(1 / 3);

/** Not the time that a thread may take to start. */
const LIMIT = 119_000;
let pool: WasmRenderer;
let renderer: Renderer;
let worker: string;
const ruby = rubyFile(import.meta.url);

beforeAll(async () => {
  const source = fileURLToPath(new URL("./render-worker.ts", import.meta.url));
  worker = await bundle(source, { format: "esm" });
  pool = new WasmRenderer({ worker, ruby, clock: systemClock, threads: 1, limit: LIMIT });
  renderer = pool.open();
});
afterAll(() => pool.close());

const { signal } = new AbortController();

const sourcesOf = (given: readonly { readonly template: string }[]) => given.map(({ template }) => template);

async function rendered(
  by: Renderer,
  sources: readonly string[],
  context: JsonObject = CONTEXT,
  dialect: Dialect = "director",
) {
  const templates = sources.map((source, at) => ({ name: `t${at}.erb`, source: Buffer.from(source) }));
  const found = await by.render({ dialect, context, templates }, signal);
  return found.map((one) =>
    isFailure(one) ? `line ${one.line}: ${one.message}` : Buffer.from(one.text).toString(),
  );
}

/** The time is up for some that are asked, one after the other: whatever the machine is busy with. */
function upFor(...asked: readonly boolean[]): Clock {
  const left = [...asked];
  const after: Clock["after"] = (ms, call) =>
    ms !== LIMIT || left.shift() === true ? systemClock.after(ms === LIMIT ? 0 : ms, call) : () => undefined;
  return { ...systemClock, after };
}

describe("templates in the built-in Ruby", () => {
  it("render every construct a release may use", async () => {
    const found = await rendered(renderer, sourcesOf(CONSTRUCTS));
    expect(found).toEqual(CONSTRUCTS.map(({ gives }) => gives));
  });

  it("fail each for itself, with the line and Ruby's words", async () => {
    expect(await rendered(renderer, ["ok", ...sourcesOf(FAILURES), "<% if %>"])).toEqual([
      "ok",
      ...FAILURES.map(({ gives }) => gives),
      expect.stringMatching(/^line undefined: .*syntax error/),
    ]);
  });

  it("see properties, links and spec as they were given, whatever a template of the job before has changed", async () => {
    const look = `<%= p("web.hosts").inspect %> <%= p("web.new", "none") %> <%= properties.web.port %> <%= @mine.inspect %>
<%= link("db").p("port") %> <%= spec.networks.private.ip %> <%= link("db").instances.size %>`;
    const seen = '["a", "b"] none 8080 nil\n5432 10.0.0.5 2';
    const found = await rendered(renderer, [
      '<% p("web.hosts") << "c" %>1',
      '<% p("web.hosts").first << "x"; p("web")["new"] = 1; p("web").delete("port"); @mine = 1 %>2',
      look,
      "<% properties.web.port = 1; spec.networks.private.ip << '6' %>3",
      '<% link("db").properties["port"] = 1; link("db").instances.clear; raw_properties.clear; raise "4" %>',
      look,
    ]);
    expect(found).toEqual(["1", "2", seen, "3", "line 1: 4", seen]);
  });

  it("reach no file, variable, network, program or JavaScript of the host", async () => {
    const found = await rendered(renderer, [
      '<%= File.read("/etc/hostname") %>',
      '<%= Dir.children("/").inspect %>',
      "<%= ENV.to_h.inspect %>",
      '<%= require "socket"; TCPSocket.new("127.0.0.1", 1) %>',
      '<%= require "a_gem" %>',
      "<%= `id` %>",
      '<%= system("id") %>',
      '<%= IO.popen("id").read %>',
      "<%= fork %>",
      '<%= require "js"; JS.eval("return 1") %>',
    ]);
    expect(found).toEqual([
      expect.stringContaining("No such file or directory"),
      expect.anything(),
      "{}",
      "line 1: TCPSocket is not there in the built-in Ruby",
      "line 1: cannot load such file -- a_gem, which is not there in the built-in Ruby",
      expect.stringContaining("not there in the built-in Ruby"),
      expect.stringContaining("not there in the built-in Ruby"),
      expect.stringContaining("not there in the built-in Ruby"),
      expect.stringContaining("not there in the built-in Ruby"),
      expect.stringContaining("uninitialized constant"),
    ]);
    expect(found[1]).not.toContain("etc");
  });

  it("fail alone if they take all memory or all stack", async () => {
    const found = await rendered(renderer, [
      'a<%= x = "x"; loop { x << x } %>',
      "<% def deeper(n) = deeper(n + 1) + 1; deeper(0) %>",
      "<%= 1 + 1 %>",
    ]);
    expect(found).toEqual([
      expect.stringContaining("failed to allocate memory"),
      expect.stringContaining("stack level too deep"),
      "2",
    ]);
  });

  it("fail alone if they never end, and the others of their job are rendered", async () => {
    // For all three at once, then for the second alone.
    const clock = upFor(true, false, true, false);
    const impatient = new WasmRenderer({ worker, ruby, clock, threads: 1, limit: LIMIT });
    expect(await rendered(impatient.open(), ["a<%= 1 %>", "<% loop {} %>", "b<%= 2 %>"])).toEqual([
      "a1",
      "line undefined: did not finish within 119 s",
      "b2",
    ]);
    await impatient.close();
  });

  it("have no links in create-env, and word their errors as its users know them", async () => {
    const found = await rendered(
      renderer,
      [...sourcesOf(CREATE_ENV), '<%= link("db") %>'],
      CONTEXT,
      "create-env",
    );
    expect(found).toEqual([
      ...CREATE_ENV.map(({ gives }) => gives),
      expect.stringContaining("undefined method `link'"),
    ]);
  });

  it("are given up when the caller gives up", async () => {
    const leaving = new AbortController();
    const one = new WasmRenderer({ worker, ruby, clock: systemClock, threads: 1, limit: LIMIT });
    const endless = {
      dialect: "director",
      context: {},
      templates: [{ name: "x", source: Buffer.from("<% loop {} %>") }],
    } as const;
    const waiting = one.open().render(endless, leaving.signal);
    leaving.abort(new Error("cancelled"));
    await expect(waiting).rejects.toThrow("cancelled");
    await one.close();
  });
});

const hasRuby = needs("ruby", existsSync("/usr/bin/ruby"), "there is no /usr/bin/ruby");

describe.runIf(hasRuby)("templates in a system's Ruby", () => {
  const REAL = { ruby: "/usr/bin/ruby", over: tmpdir(), exec: systemExec, clock: systemClock, limit: LIMIT };
  const system = () => systemRuby(REAL);

  it.each([
    ["every construct", "director", CONSTRUCTS],
    ["every failure", "director", FAILURES],
    ["all of create-env", "create-env", CREATE_ENV],
  ] as const)("give the same bytes as in the built-in one: %s", async (_, dialect, given) => {
    const sources = sourcesOf(given);
    const found = await rendered(system(), sources, CONTEXT, dialect);
    expect(found).toEqual(given.map(({ gives }) => gives));
    expect(found).toEqual(await rendered(renderer, sources, CONTEXT, dialect));
  });

  it("reach no file but the system's programs, write nowhere, and have no network and no rights", async () => {
    const found = await rendered(system(), [
      `<%= File.exist?("${tmpdir()}") || File.exist?("/etc/passwd") || File.exist?("/proc/self") %>`,
      '<% File.write("/usr/a", "") %>',
      '<% File.write("/a", "") %>',
      '<% require "socket"; TCPSocket.new("127.0.0.1", 1) %>',
      '<%= require "socket"; Socket.getifaddrs.reject { |one| one.name == "lo" }.size %>',
      '<% Dir.chroot("/usr") %>',
      "<%= `unshare --mount true 2>&1` %>",
    ]);
    expect(found).toEqual([
      "false",
      expect.stringContaining("Read-only file system"),
      expect.stringContaining("Read-only file system"),
      expect.stringMatching(/Network is unreachable|Connection refused|Cannot assign/),
      "0",
      expect.stringContaining("Operation not permitted"),
      expect.stringContaining("Operation not permitted"),
    ]);
  });

  it("fail alone if they never end, or end their Ruby, and the others of their job are rendered", async () => {
    // For all at once, then for the second alone.
    const clock = upFor(true, false, true);
    const impatient = systemRuby({ ...REAL, clock });
    const found = await rendered(impatient, ["a<%= 1 %>", "<% loop {} %>", "<% exit!(3) %>", "b<%= 2 %>"]);
    expect(found).toEqual([
      "a1",
      expect.stringMatching(/^line undefined: .*did not finish within 119 s/),
      expect.stringMatching(/^line undefined: .*it ended with 3/),
      "b2",
    ]);
  });

  it("are not blamed if there is no such Ruby", async () => {
    const none = systemRuby({ ...REAL, ruby: "/no/ruby" });
    await expect(rendered(none, ["a", "b"])).rejects.toThrow(/^\/no\/ruby, which is set as `templates.ruby`/);
  });
});
