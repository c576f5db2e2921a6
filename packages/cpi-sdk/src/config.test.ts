import type { JsonObject } from "@slipway/protocol/schema/json";
import { cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { deadEndpoint, liveRegistry } from "@slipway/testkit/registry";
import { ask, errorOf, resultOf, typeOf, vmArgs } from "@slipway/testkit/requests";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";

const WITH = (context: object) => ask("has_vm", ["vm-1"], { context });

async function configFor(config: JsonObject, context: object = {}) {
  const cloud = new MemoryCloud();
  resultOf(await embed(cloudCpi(cloud), { config }).request(WITH(context)));
  return cloud.configs[0];
}

describe("the CPI's own section of the configuration", () => {
  const own = { region: "r-1", options: { a: [1] } };

  it("reads a file as BOSH jobs write it", async () => {
    expect(await configFor({ cloud: { plugin: "cloud", properties: { cloud: own } } })).toEqual(own);
  });

  it("reads a flat file", async () => {
    expect(await configFor({ other: { region: "r-2" }, "tiny-cloud": {}, agent: {}, cloud: own })).toEqual(
      own,
    );
  });

  it("fills in the defaults of its schema for missing keys", async () => {
    expect(await configFor({})).toEqual({ region: "r-default" });
    expect(await configFor({ cloud: { pin: "1234" } })).toEqual({ region: "r-default", pin: "1234" });
  });

  it.each<[string, JsonObject]>([
    ["a wrong type in it", { cloud: { region: 7 } }],
    ["properties that are no object", { cloud: { properties: "x" } }],
  ])("reports what is wrong: %s", async (_, config) => {
    const cloud = new MemoryCloud();
    const error = errorOf(await embed(cloudCpi(cloud), { config }).request(WITH({})));
    expect(error.type).toBe(typeOf("CloudError"));
    expect(error.message).toMatch(/^SDK-002 the configuration of the CPI is not usable/);
    expect(cloud.calls).toEqual([]);
  });
});

describe("properties of the request", () => {
  const file = { cloud: { region: "r-file", options: { from: "file" } } };

  it("override the file's, flat or under the CPI's name, for this request only", async () => {
    const cloud = new MemoryCloud();
    const client = embed(cloudCpi(cloud), { config: file });
    for (const context of [{ region: "r-2" }, {}, { cloud: { region: "r-3" } }, { options: {} }]) {
      resultOf(await client.request(WITH(context)));
    }
    expect(cloud.configs.map(({ region, options }) => [region, options])).toEqual([
      ["r-2", { from: "file" }],
      ["r-file", { from: "file" }],
      ["r-3", { from: "file" }],
      ["r-file", {}],
    ]);
  });

  it("accepts unknown properties, which have no effect", async () => {
    const context = {
      constructor: { a: 1 },
      toString: 7,
      "": null,
      datacenters: [{ name: "dc" }],
      api: { deep: {} },
    };
    expect(await configFor(file, context)).toMatchObject({ region: "r-file" });
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  it("cannot reach a prototype", async () => {
    const request = JSON.parse(
      `{"method":"has_vm","arguments":["vm-1"],"api_version":2,
        "context":{"director_uuid":"d","__proto__":{"polluted":true},"cloud":{"__proto__":{"polluted":true}}}}`,
    );
    const cloud = new MemoryCloud();
    await embed(cloudCpi(cloud), { config: file }).request(request);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("reports a property of the wrong type like a wrong file", async () => {
    const cloud = new MemoryCloud();
    const error = errorOf(await embed(cloudCpi(cloud), { config: file }).request(WITH({ region: ["x"] })));
    expect(error.message).toContain("SDK-002");
    expect(cloud.calls).toEqual([]);
  });
});

describe("the registry of the configuration", () => {
  it("may come with the request, over the file's", async () => {
    const registry = await liveRegistry();
    const config = { registry: { endpoint: await deadEndpoint(), user: "file", password: "of the file" } };
    const cloud = new MemoryCloud();
    const asked = { version: 1, stemcell: 1, context: { registry: registry.section } };
    const vm = resultOf(await embed(cloudCpi(cloud), { config }).request(ask("create_vm", vmArgs(), asked)));
    expect(registry.seen).toEqual([`PUT ${vm}`]);
    expect(cloud.configs[0]).not.toHaveProperty("registry");
  });

  it.each<[string, (url: URL) => JsonObject, (url: URL) => string]>([
    [
      "a URL and credentials beside it",
      (url) => ({ endpoint: url.href, user: "registry", password: "p" }),
      (url) => `http://registry:p@${url.host}`,
    ],
    [
      "host and port, as the CLI gives them",
      (url) => ({ host: url.hostname, port: Number(url.port), username: "u@x", password: "a b/c:d@é%" }),
      (url) => `http://u%40x:a%20b%2Fc%3Ad%40%C3%A9%25@${url.host}`,
    ],
    [
      "host and the port as text",
      (url) => ({ host: url.hostname, port: url.port }),
      (url) => `http://${url.host}`,
    ],
    ["an address without a scheme", (url) => ({ endpoint: url.host }), (url) => `http://${url.host}`],
    [
      "credentials in the URL",
      (url) => ({ endpoint: `http://u:p%2Fq@${url.host}/base/` }),
      (url) => `http://u:p%2Fq@${url.host}/base`,
    ],
    ["TLS", (url) => ({ endpoint: `https://u:p@${url.host}` }), (url) => `https://u:p@${url.host}`],
  ])("reaches the agent as one URL: %s", async (_, section, expected) => {
    // Nothing needs to listen there: the user-data is made before the VM.
    const url = new URL(await deadEndpoint());
    let userData = "";
    const createVm = (args: { networks: never }, call: { userData: (vm: { networks: never }) => string }) => {
      userData = call.userData({ networks: args.networks });
      throw new Error("enough");
    };
    const cpi = cloudCpi(new MemoryCloud(), { methods: { createVm: createVm as never } });
    const client = embed(cpi, { config: { registry: section(url) } });
    errorOf(await client.request(ask("create_vm", vmArgs(), { version: 1 })));
    expect(JSON.parse(userData)).toMatchObject({ registry: { endpoint: expected(url) } });
  });

  it.each([{ endpoint: "http://" }, { endpoint: "" }, { endpoint: 7 }, { host: "a b" }, "x", []])(
    "%j is refused",
    async (section) => {
      const cloud = new MemoryCloud();
      const client = embed(cloudCpi(cloud), { config: { registry: section } });
      expect(errorOf(await client.request(ask("create_vm", vmArgs(), { version: 1 }))).message).toContain(
        "SDK-002",
      );
      expect(cloud.calls).toEqual([]);
    },
  );
});

describe("the agent section", () => {
  it("is merged over the settings of every agent, and the request's over the file's", async () => {
    const cloud = new MemoryCloud();
    const config = { agent: { mbus: "nats://file", ntp: ["file"] } };
    const context = { agent: { mbus: "nats://request", blobstore: { provider: "local" } } };
    resultOf(await embed(cloudCpi(cloud), { config }).request(ask("create_vm", vmArgs(), { context })));
    expect(JSON.parse(cloud.vm.userData)).toMatchObject({
      mbus: "nats://request",
      ntp: ["file"],
      blobstore: { provider: "local" },
    });
  });
});
