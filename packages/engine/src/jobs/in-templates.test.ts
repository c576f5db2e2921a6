import { fileURLToPath } from "node:url";
import { systemClock } from "@slipway/kernel/clock";
import { bundle } from "@slipway/testkit/bundle";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { expect, it } from "vitest";
import { isFailure } from "../templates/request.ts";
import { rubyFile } from "../templates/ruby-module.ts";
import { WasmRenderer } from "../templates/wasm-renderer.ts";
import { groupKey } from "./dns/ids.ts";
import type { DnsSettings } from "./model.ts";
import { instance, plannedJobs } from "./testing/builders.ts";
import { sketch } from "./testing/links.ts";

sampleTests(1 / 3);

const DNS: DnsSettings = {
  enabled: true,
  domain: "bosh",
  useDnsAddresses: true,
  ids: {
    azs: new Map([["z1", 1]]),
    networks: new Map([["private", 7]]),
    groups: new Map([[groupKey({ type: "instance-group", name: "db", deployment: "shop" }), 4]]),
    instances: new Map([
      ["db-0", 21],
      ["web-0", 22],
    ]),
  },
};

const TEMPLATE = [
  "<%= name %>/<%= spec.id %> (<%= index %>) of <%= spec.deployment %> in <%= spec.az %>",
  "<%= spec.job.name %> <%= spec.release.name %>/<%= spec.release.version %> <%= spec.address %> <%= spec.ip %>",
  "<%= spec.networks.methods(false).inspect %> <%= spec.networks.private.dns_record_name %>",
  '<% link("db").instances.each do |i| %><%= i.name %>/<%= i.id %> <%= i.address %> <%= i.az %><% end %>',
  '<%= link("db").p("port") %> <%= link("db").p("user", "nobody") %>',
  '<%= link("db").address(azs: ["z1"], status: "healthy") %>',
  '<% if_link("more") { } .else do %>no more<% end %>',
].join("\n");

it("a planned context is what templates read: the instance, its release, its links by name and by query", async () => {
  const source = fileURLToPath(new URL("../templates/render-worker.ts", import.meta.url));
  const pool = new WasmRenderer({
    worker: await bundle(source, { format: "esm" }),
    ruby: rubyFile(import.meta.url),
    clock: systemClock,
    threads: 1,
    limit: 119_000,
  });
  const rendered = async (short: boolean) => {
    const given = sketch();
    const features = { randomizeAzPlacement: false, useShortDnsAddresses: short };
    const planned = plannedJobs({ ...given, manifest: { ...given.manifest, features }, dns: DNS });
    const [web] = planned.instances.get(instance("web", 0).uuid) ?? [];
    const templates = [{ name: "t.erb", source: Buffer.from(TEMPLATE) }];
    const context = web?.context ?? {};
    const [one] = await pool
      .open()
      .render({ dialect: "director", context, templates }, new AbortController().signal);
    if (one === undefined || isFailure(one)) throw new Error(one?.message);
    return Buffer.from(one.text).toString().split("\n");
  };
  try {
    expect(await rendered(false)).toEqual([
      "web/web-0 (0) of shop in z1",
      "web demo/1.0 web-0.web.private.shop.bosh 10.0.0.5",
      "[:private] 0.web.private.shop.bosh",
      "db/db-0 db-0.db.private.shop.bosh z1",
      "5432 nobody",
      "q-a1s3.db.private.shop.bosh",
      "no more",
    ]);
    expect((await rendered(true))[5]).toBe("q-a1n7s3.q-g4.bosh");
  } finally {
    await pool.close();
  }
});
