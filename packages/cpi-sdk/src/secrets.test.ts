import { inspect } from "node:util";
import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { expectNoSecrets, PLANTED_CONTEXT, PLANTED_ENV, PLANTED_PROPERTIES } from "@slipway/testkit/canaries";
import { type CloudMethods, cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { ask, vmArgs, wellFormed } from "@slipway/testkit/requests";
import { quickClock } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import { cloudError } from "./errors.ts";
import { exampleRequest } from "./testing/examples.ts";

const FILE = { ...PLANTED_PROPERTIES, cloud: { pin: "CANARY-pin", options: { api_token: "CANARY-token" } } };

/** An author who prints all there is to print, in every way people print, and then fails with it. */
const careless: CloudMethods["createVm"] = (args, { config, log, userData }) => {
  const text = userData({ networks: args.networks });
  const all = { args, config, request: { body: { user_data: text } } };
  for (const said of [JSON.stringify(all), JSON.stringify(all, null, 2), inspect(all, { depth: 10 }), text]) {
    log.info(said);
  }
  throw cloudError(`POST failed: ${JSON.stringify(all)}`, { cause: new Error(text) });
};

async function everythingSaid(request: object, config: object = FILE, capabilities: Capabilities = {}) {
  const stream: string[] = [];
  const client = embed(cloudCpi(new MemoryCloud(), { capabilities, methods: { createVm: careless } }), {
    config: config as JsonObject,
    clock: quickClock,
    stream: (line) => stream.push(line),
  });
  const reply = wellFormed(await client.request(request));
  return { reply, said: stream.join("") + JSON.stringify(reply) };
}

describe("no secret of a call shows in its log, its stream or its error", () => {
  it.each([
    ["registry-less", { version: 2, stemcell: 2 }],
    ["with a registry", { version: 1, stemcell: 1 }],
    ["with a registry and a hint", { version: 2, stemcell: 1 }],
  ])("%s: not of env, configuration, context or registry", async (_, asked) => {
    const { reply, said } = await everythingSaid(
      ask("create_vm", vmArgs({}, PLANTED_ENV), { ...asked, context: PLANTED_CONTEXT }),
    );
    expect(reply.error?.message).toContain("POST failed");
    expect(reply.log).toContain("<redacted>");
    // It says what is no secret: the log is there to be read.
    expect(reply.log).toContain("the certificate");
    expect(reply.log).toContain("r-1");
    expectNoSecrets(said);
  });

  it.each<[string, object]>([
    ["flat", { pin: "CANARY-flat-pin" }],
    ["under the CPI's name", { cloud: { pin: "CANARY-nested-pin" } }],
    [
      "a registry of the request",
      { registry: { endpoint: "http://u:CANARY-ep@127.0.0.1:1", password: "CANARY-pw" } },
    ],
    [
      "an agent section of the request",
      {
        agent: {
          mbus: "nats://u:CANARY-bus@h",
          blobstore: { provider: "dav", options: { password: "CANARY-bs" } },
        },
      },
    ],
    [
      "keys of other clouds",
      {
        vcenters: [{ user: "u", password: "CANARY-vc" }],
        json_key: "CANARY-json",
        secret_access_key: "CANARY-sak",
      },
    ],
  ])("not of a CPI config: %s", async (_, context) => {
    const said: string[] = [];
    for (const version of [1, 2]) {
      const request = ask("create_vm", vmArgs(), { version, context });
      said.push((await everythingSaid(request, { registry: { endpoint: "127.0.0.1:1" } })).said);
    }
    expect(said.join("")).toContain("<redacted>");
    expectNoSecrets(said.join(""));
  });

  it("not of the settings a draft puts in third place", async () => {
    const args = exampleRequest("create_vm", "drafts/b").arguments.with(2, {
      agent_id: "a",
      mbus: "https://u:CANARY-boot@0.0.0.0:6868",
      blobstore: { provider: "dav", options: { password: "CANARY-boot-bs" } },
    });
    const { said, reply } = await everythingSaid(ask("create_vm", args), FILE, {
      bootstrap_settings_arg: true,
    });
    expect(reply.log).toContain("<redacted>");
    expectNoSecrets(said);
  });

  it("not when the configuration is refused", async () => {
    const config = { ...FILE, cloud: { pin: ["CANARY-in-a-list"], region: { password: "CANARY-x" } } };
    const { reply, said } = await everythingSaid(ask("create_vm", vmArgs({}, PLANTED_ENV)), config);
    expect(reply.error?.message).toContain("SDK-002");
    expectNoSecrets(said);
  });

  it("not when the arguments are", async () => {
    for (const args of [
      vmArgs({}, PLANTED_ENV).slice(1),
      vmArgs({}, { bosh: { ...PLANTED_ENV.bosh, groups: 7 } }),
    ]) {
      const { reply, said } = await everythingSaid(ask("create_vm", args, { context: PLANTED_CONTEXT }));
      expect(reply.error?.message).toContain("Arguments are not correct");
      expectNoSecrets(said);
    }
  });
});
