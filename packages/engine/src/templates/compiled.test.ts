import { fileURLToPath } from "node:url";
import { systemClock } from "@slipway/kernel/clock";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { bundle } from "@slipway/testkit/bundle";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dialect, isFailure, type Renderer } from "./request.ts";
import { rubyFile } from "./ruby-module.ts";
import { CONSTRUCTS, CONTEXT, CREATE_ENV, FAILURES } from "./testing/constructs.ts";
import { WasmRenderer } from "./wasm-renderer.ts";

let pool: WasmRenderer;
beforeAll(async () => {
  const source = fileURLToPath(new URL("./render-worker.ts", import.meta.url));
  const worker = await bundle(source, { format: "esm" });
  const ruby = rubyFile(import.meta.url);
  pool = new WasmRenderer({ worker, ruby, clock: systemClock, threads: 1, limit: 119_000 });
});
afterAll(() => pool.close());

const { signal } = new AbortController();
const OFF: JsonObject = { ...CONTEXT, properties: { ...(CONTEXT.properties as JsonObject), off: true } };

async function rendered(
  by: Renderer,
  sources: readonly string[],
  context: JsonObject,
  dialect: Dialect = "director",
): Promise<readonly string[]> {
  const templates = sources.map((source, at) => ({ name: `t${at}.erb`, source: Buffer.from(source) }));
  const found = await by.render({ dialect, context, templates }, signal);
  return found.map((one) =>
    isFailure(one) ? `${one.line}: ${one.message}` : Buffer.from(one.text).toString(),
  );
}

/** Templates that a method would run differently than `eval`, and some that cannot stand in a method. */
const DELICATE = [
  'a<% return if p("web.port") == 8080 %>b',
  "<% [1, 2].each { |n| return n } %>b",
  "<% FRESH = 1 unless defined?(FRESH) %><%= FRESH %>",
  "<% class Fresh; def hi = 7; end %><%= Fresh.new.hi %>",
  "<% module Freshly; X = 2; end %><%= Freshly::X %>",
  "<% def helper(x) = x + 1 %><%= helper(1) %>",
  "a<% end %>b<% def slipway_other %>c",
  "a<% } ; x = proc { %>b",
  "<% next %>a",
  "<% break %>a",
  "<% yield %>",
  "<% redo %>",
  "<%= __method__.inspect %> <%= __FILE__ %> <%= __LINE__ %>",
  "<%= binding.local_variables.inspect %>",
  "<% x = 1 %><%= eval('x + 1') %> <%= defined?(y).inspect %><% y = 1 if false %><%= y.inspect %>",
  "<%= /#{index}/o.source %> <%= %r{#{index}}o.source %>",
  "<%= Module.nesting.first %> <%= Properties.name %> <%= self.class %>",
  "<% s = 'a'; s << 'b' %><%= s %><% h = { 'a' => [1] }; h['a'] << 2 %><%= h %>",
  "<% _erbout << 'x' %>y<% @mine = 1 %><%= instance_variables.include?(:@mine) %>",
  '<%= "x" =~ /(x)/ ? $1 : 0 %> <%= $~.inspect %>',
  "<%= <<~TEXT\n  a\n  b\nTEXT\n%>c\n<%= __LINE__ %>",
  "<%# coding: utf-8 %>ä\n<%= 'ö' %>",
  "# frozen_string_literal: true\n<% s = 'a'; s << 'b' %><%= s %>",
  "<% f = lambda { |x| x * 2 } %><%= f.(4) %> <%= [3, 1].sort_by { |x| x }.join %>",
  "<% begin %><% raise 'x' %><% rescue => e %><%= e.message %><% ensure %>.<% end %>",
  "<% case index when 2 %>two<% else %>other<% end %>",
  "<%= catch(:out) { throw :out, 5 } %> <%= loop { break 6 } %>",
  "<%= index.then { _1 + 1 } %> <%= method(:p).owner %>",
  "",
  "%% text\n<%% not code %>\n%>",
];

describe("a template that is rendered again is a method, which gives the same", () => {
  it.each<[string, readonly string[], Dialect]>([
    ["for every construct", CONSTRUCTS.map(({ template }) => template), "director"],
    ["for every construct of create-env", CREATE_ENV.map(({ template }) => template), "create-env"],
    ["for what could differ", DELICATE, "director"],
  ])("%s", async (_, sources, dialect) => {
    const fresh = pool.open();
    const evaluated = await rendered(fresh, sources, CONTEXT, dialect);
    await fresh.close();
    const again = pool.open();
    for (let time = 0; time < 3; time++)
      expect(await rendered(again, sources, CONTEXT, dialect)).toEqual(evaluated);
    await again.close();
  });

  it("for every failure, with its line", async () => {
    // In the block around it, redo never ends.
    const finite = DELICATE.filter((template) => !template.includes("redo"));
    const sources = [...FAILURES.map(({ template }) => template), ...finite].map(
      (template) => `first\n<% if_p("off") do %>off<% end.else do %>${template}<% end %>`,
    );
    const fresh = pool.open();
    const evaluated = await rendered(fresh, sources, CONTEXT);
    await fresh.close();
    const again = pool.open();
    const off = await rendered(again, sources, OFF);
    expect(await rendered(again, sources, OFF)).toEqual(off);
    expect(await rendered(again, sources, CONTEXT)).toEqual(evaluated);
    expect(evaluated.filter((text) => /^[0-9]+: /.test(text)).length).toBeGreaterThan(FAILURES.length - 1);
    await again.close();
  });

  it("uses the values of each rendering", async () => {
    const one = pool.open();
    const source = ['<%= p("n") %> <%= /#{p("n")}/o.source %> <% x ||= p("n") %><%= x %>'];
    for (const n of [1, 2, 3])
      expect(await rendered(one, source, { properties: { n } })).toEqual([`${n} ${n} ${n}`]);
    await one.close();
  });
});
