import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import { cloudCpi, MemoryCloud, makeVm } from "@slipway/testkit/memory-cloud";
import { ask, errorOf, NETWORKS, resultOf, vmArgs } from "@slipway/testkit/requests";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";

const lowered = (version: Json): JsonObject => ({ debug: { cpi: { api_version: version } } });
const INFO = {
  stemcell_formats: ["memory-tar"],
  api_version: 3,
  capabilities: { repeats_by_request_id: true },
};

describe("info", () => {
  it("says the formats and the highest version, the same whatever version is asked for", async () => {
    const client = embed(cloudCpi(new MemoryCloud()));
    for (const version of [undefined, 1, 2, 3, 4, 99]) {
      expect(resultOf(await client.request(ask("info", [], { version })))).toEqual(INFO);
    }
  });

  it("is asked before anything else: no stemcell, no request id", async () => {
    const reply = await embed(cloudCpi(new MemoryCloud())).request({
      method: "info",
      arguments: [],
      context: { director_uuid: "d" },
    });
    expect(resultOf(reply)).toEqual(INFO);
  });

  it("reports less when debug.cpi.api_version says so, and never more", async () => {
    const cloud = cloudCpi(new MemoryCloud(), { apiVersion: 2 });
    for (const [told, reported] of [
      [1, 1],
      [2, 2],
      [3, 2],
      [99, 2],
      [null, 2],
    ]) {
      const client = embed(cloud, { config: lowered(told ?? null) });
      expect(resultOf(await client.request(ask("info", [])))).toMatchObject({ api_version: reported });
    }
  });

  it.each([0, -1, 1.5, "1"])("refuses to report %j", async (told) => {
    const error = errorOf(
      await embed(cloudCpi(new MemoryCloud()), { config: lowered(told) }).request(ask("info", [])),
    );
    expect(error.message).toMatch(/SDK-002 .*debug/);
  });

  it("reports less, and a request of version 2 is still served as version 2", async () => {
    const client = embed(cloudCpi(new MemoryCloud()), { config: lowered(1) });
    expect(resultOf(await client.request(ask("create_vm", vmArgs())))).toEqual(["vm-1", NETWORKS]);
  });

  it.each([
    ["the CPI's own section", { cloud: { region: 7 } }],
    ["a registry that is no URL", { registry: { endpoint: "http://" } }],
    ["a registry that is a list", { registry: ["x"] }],
    ["an agent section", { agent: { ntp: "time.example.org" } }],
  ])("answers though the configuration is broken: %s", async (_, config) => {
    const cloud = new MemoryCloud();
    const client = embed(cloudCpi(cloud), { config: config as never });
    expect(resultOf(await client.request(ask("info", [])))).toEqual(INFO);
    // Everything else says what is wrong.
    expect(errorOf(await client.request(ask("has_vm", ["vm-1"]))).message).toContain("SDK-002");
    expect(cloud.calls).toEqual([]);
  });

  it("announces draft dialects only when there are any", async () => {
    const capabilities = { attach_disk_takes_disks: true } as const;
    const reply = await embed(cloudCpi(new MemoryCloud(), { capabilities })).request(ask("info", []));
    expect(resultOf(reply)).toEqual({ ...INFO, capabilities: { ...INFO.capabilities, ...capabilities } });
  });

  it("promises that a repeat returns the first result only when there is a place to remember it", async () => {
    const { stateDir: _, ...forgetful } = cloudCpi(new MemoryCloud());
    const { capabilities, ...plain } = INFO;
    expect(resultOf(await embed(forgetful).request(ask("info", [])))).toEqual(plain);
    const modest = cloudCpi(new MemoryCloud(), { capabilities: { repeats_by_request_id: false } });
    expect(resultOf(await embed(modest).request(ask("info", [])))).toEqual({
      ...plain,
      capabilities: { ...capabilities, repeats_by_request_id: false },
    });
  });
});

describe("a definition", () => {
  it("may lower the version: shapes follow the request, not the definition", async () => {
    const cloud = new MemoryCloud();
    const createVm = (args: Parameters<typeof makeVm>[1], call: Parameters<typeof makeVm>[2]) =>
      makeVm(cloud, args, call);
    const client = embed(cloudCpi(cloud, { apiVersion: 2, methods: { createVm } }));
    expect(resultOf(await client.request(ask("create_vm", vmArgs(), { version: 2 })))).toEqual([
      "vm-1",
      NETWORKS,
    ]);
    expect(
      errorOf(await client.request(ask("create_stemcell", ["/i", {}, {}], { version: 3 }))).message,
    ).toContain("max supported is '2'");
  });
});
