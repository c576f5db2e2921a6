import { cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { ask, DIRECTOR, errorOf, resultOf, typeOf, wellFormed } from "@slipway/testkit/requests";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";

const HAS_VM = { method: "has_vm", arguments: ["vm-1"], context: { director_uuid: DIRECTOR } };

describe("a malformed request is answered with CpiError and reaches no method", () => {
  const without = (key: string) =>
    Object.fromEntries(Object.entries(HAS_VM).filter(([name]) => name !== key));

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "Request cannot be deserialized"],
    ["null", null, "Request cannot be deserialized"],
    ["a string", "has_vm", "Request cannot be deserialized"],
    ["a number", 7, "Request cannot be deserialized"],
    ["an array", [HAS_VM], "Request cannot be deserialized"],
    ["an empty object", {}, "Method must be a String"],
    ["no method", without("method"), "Method must be a String"],
    ["a number as method", { ...HAS_VM, method: 7 }, "Method must be a String"],
    ["an empty method", { ...HAS_VM, method: "" }, "Method must be a String"],
    ["null as method", { ...HAS_VM, method: null }, "Method must be a String"],
    ["no arguments", without("arguments"), "Arguments must be an Array"],
    ["arguments by name", { ...HAS_VM, arguments: { vm_cid: "vm-1" } }, "Arguments must be an Array"],
    ["null as arguments", { ...HAS_VM, arguments: null }, "Arguments must be an Array"],
    ["text as arguments", { ...HAS_VM, arguments: "vm-1" }, "Arguments must be an Array"],
    ["no context", without("context"), "context with director uuid"],
    ["null as context", { ...HAS_VM, context: null }, "context with director uuid"],
    ["an array as context", { ...HAS_VM, context: [DIRECTOR] }, "context with director uuid"],
    ["no director uuid", { ...HAS_VM, context: {} }, "context with director uuid"],
    ["a number as director uuid", { ...HAS_VM, context: { director_uuid: 1 } }, "context with director uuid"],
    ["an empty director uuid", { ...HAS_VM, context: { director_uuid: " " } }, "director_uuid"],
    ["a number as request id", { ...HAS_VM, context: { director_uuid: "d", request_id: 5 } }, "request_id"],
    ["text as vm", { ...HAS_VM, context: { director_uuid: "d", vm: "vm-1" } }, "context.vm"],
    [
      "text as stemcell version",
      { ...HAS_VM, context: { director_uuid: "d", vm: { stemcell: { api_version: "2" } } } },
      "api_version",
    ],
  ])("%s", async (_, request, words) => {
    const cloud = new MemoryCloud();
    const error = errorOf(await embed(cloudCpi(cloud)).request(request));
    expect(error).toMatchObject({ type: typeOf("CpiError"), ok_to_retry: false });
    expect(error.message).toContain(words);
    expect(cloud.calls).toEqual([]);
  });

  it("quotes nothing of a malformed request, for it may be a secret", async () => {
    const secret = "CANARY-anywhere";
    const places = [
      { ...HAS_VM, method: { [secret]: secret } },
      { ...HAS_VM, arguments: secret },
      { ...HAS_VM, api_version: secret },
      { ...HAS_VM, context: secret },
      { ...HAS_VM, context: { director_uuid: DIRECTOR, request_id: [secret] } },
      { ...HAS_VM, arguments: [{ password: secret }] },
    ];
    for (const request of places) {
      const reply = await embed(cloudCpi(new MemoryCloud())).request(request);
      errorOf(reply);
      expect(JSON.stringify(reply)).not.toContain(secret);
    }
  });
});

describe("the version asked for", () => {
  const at = (version: unknown) => ({
    ...(ask("create_disk", [1, {}, null]) as object),
    api_version: version,
  });

  it.each([0, -1, 1.5, "2", "", null, true, [2], {}, 1e300, Number.NaN])(
    "%j is refused as malformed",
    async (version) => {
      const cloud = new MemoryCloud();
      const error = errorOf(await embed(cloudCpi(cloud)).request(at(version)));
      expect(error).toMatchObject({ type: typeOf("CpiError"), ok_to_retry: false });
      expect(error.message).toContain("api_version");
      expect(cloud.calls).toEqual([]);
    },
  );

  it.each([4, 99, Number.MAX_SAFE_INTEGER])("%j is above what we speak: NotImplemented", async (version) => {
    const cloud = new MemoryCloud();
    const error = errorOf(await embed(cloudCpi(cloud)).request(at(version)));
    expect(error.type).toBe(typeOf("NotImplemented"));
    expect(error.message).toBe(`CPI API version requested is '${version}', max supported is '3'`);
    expect(cloud.calls).toEqual([]);
  });

  it("above what this CPI speaks is refused too, and info still answers", async () => {
    const client = embed(cloudCpi(new MemoryCloud(), { apiVersion: 2 }));
    expect(errorOf(await client.request(at(3))).message).toContain("max supported is '2'");
    expect(resultOf(await client.request(ask("info", [], { version: 3 })))).toMatchObject({ api_version: 2 });
  });

  it("missing means 1", async () => {
    const seen: number[] = [];
    const methods = {
      rebootVm: (_: unknown, call: { request: { apiVersion: number } }) => seen.push(call.request.apiVersion),
    };
    const client = embed(cloudCpi(new MemoryCloud(), { methods }));
    for (const version of [undefined, 1, 2, 3])
      wellFormed(await client.request(ask("reboot_vm", ["vm-1"], { version })));
    expect(seen).toEqual([1, 1, 2, 3]);
  });
});

describe("who asks is passed on to the method", () => {
  it("passes on request id, stemcell version, recorded disks and raw context as far as the request has them", async () => {
    const seen: unknown[] = [];
    const methods = { rebootVm: (_: unknown, call: { request: unknown }) => seen.push(call.request) };
    const client = embed(cloudCpi(new MemoryCloud(), { methods }));
    const disks = { system: "/dev/sda", persistent: { "disk-1": "/dev/sdc" } };
    const full = { vm: { stemcell: { api_version: 2 }, disks, future: 1 }, zone: { name: "z1" } };
    const bare = { vm: null, request_id: null };
    await client.request(ask("reboot_vm", ["vm-1"], { requestId: "cpi-482913", context: full }));
    await client.request(ask("reboot_vm", ["vm-1"], { stemcell: undefined, context: bare }));
    expect(seen).toEqual([
      {
        ...{ directorUuid: DIRECTOR, requestId: "cpi-482913", apiVersion: 2, stemcellApiVersion: 2, disks },
        context: { director_uuid: DIRECTOR, request_id: "cpi-482913", ...full },
      },
      {
        ...{ directorUuid: DIRECTOR, requestId: undefined, apiVersion: 2, stemcellApiVersion: undefined },
        disks: undefined,
        context: { director_uuid: DIRECTOR, ...bare },
      },
    ]);
  });
});
