import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import { methodOf } from "@slipway/testkit/wire-documents";
import { readExample, readExamples } from "@slipway/testkit/wire-examples";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { check, matches } from "../schema/check.ts";
import { REDACTED } from "../schema/redact.ts";
import { type CpiRequest, cpiRequest, redactRequest } from "./envelope.ts";

const example = (path: string) => readExample(path) as CpiRequest;

describe("a request as it may be logged", () => {
  it("shows what was asked of whom, and nothing of what may be a credential", () => {
    const logged = redactRequest(example("v2/create_vm.cpi-config.request.json"));
    expect(logged).toEqual({
      method: "create_vm",
      arguments: [
        "e4b1d3a0-52f6-4c0e-8a55-0a6e7d1f2c90",
        "img-harbour-12",
        { cpus: REDACTED, memory_mib: REDACTED },
        {
          berth: {
            type: "manual",
            ip: "10.20.1.17",
            netmask: "255.255.255.0",
            gateway: "10.20.1.1",
            dns: ["10.20.0.2"],
            default: ["dns", "gateway"],
            cloud_properties: { subnet: REDACTED },
          },
        },
        ["disk-77a0"],
        {
          bosh: {
            blobstores: [
              { provider: "dav", options: { endpoint: REDACTED, user: REDACTED, password: REDACTED } },
            ],
            ntp: ["ntp.harbour.example"],
            mbus: {
              urls: [REDACTED],
              cert: { ca: "FAKE-CA", certificate: "FAKE-CERTIFICATE", private_key: REDACTED },
            },
            password: REDACTED,
            group: "slipway-harbour-crane",
            groups: [
              "slipway",
              "harbour",
              "crane",
              "slipway-harbour",
              "harbour-crane",
              "slipway-harbour-crane",
            ],
            tags: { owner: "dock-crew" },
          },
        },
      ],
      context: {
        director_uuid: "3b7e6c52-9d0f-4a77-b1a4-c0ffee5107e1",
        request_id: "cpi-400534",
        vm: { stemcell: { api_version: 2 } },
        endpoint: REDACTED,
        access_key_id: REDACTED,
        secret_access_key: REDACTED,
        regions: REDACTED,
      },
      api_version: 2,
    });
  });

  it.each(["v1", "v2", "v3", "drafts/a", "drafts/b", "drafts/2018-object"])(
    "shows no secret of any example in %s",
    (folder) => {
      for (const { parts, content } of readExamples(folder)) {
        if (parts.at(-1) !== "request") continue;
        expect(JSON.stringify(redactRequest(content as CpiRequest))).not.toMatch(
          /not-a-real|FAKE-PRIVATE|FAKE-ACCESS/,
        );
      }
    },
  );

  it("hides the disk type of create_disk and update_disk, and shows size and cid", () => {
    const created = redactRequest(example("v2/create_disk.request.json")) as CpiRequest;
    expect(created.arguments).toEqual([30720, { tier: REDACTED }, "vm-4c1e"]);
    const updated = redactRequest(example("v2/update_disk.request.json")) as CpiRequest;
    expect(updated.arguments).toEqual(["disk-77a0", 61440, { tier: REDACTED }]);
  });

  it("hides unexpected arguments, and all arguments of an unknown method", () => {
    const attach = example("drafts/a/attach_disk.request.json");
    expect((redactRequest(attach) as CpiRequest).arguments).toEqual(["vm-4c1e", "disk-77a0", REDACTED]);
    const unknown = { ...attach, method: "toString", arguments: ["canary", { canary: 1 }] };
    expect(redactRequest(unknown)).toMatchObject({ method: "toString", arguments: [REDACTED, REDACTED] });
  });

  it("has no api_version when none was sent", () => {
    expect(redactRequest(example("v1/has_vm.request.json"))).not.toHaveProperty("api_version");
  });

  it("can be made of every request that fits the envelope, whatever else is wrong with it", () => {
    const create = methodOf("create_vm").args.map((argument) => arbitraryFor(argument.schema));
    const request = fc
      .tuple(arbitraryFor(cpiRequest), fc.tuple(...create))
      .map(([envelope, args]) => ({ ...(envelope as object), method: "create_vm", arguments: args }));
    fc.assert(
      fc.property(request.chain(mutated), (value) => {
        fc.pre(matches(cpiRequest, value));
        expect(redactRequest(value)).toHaveProperty("arguments");
      }),
      { numRuns: tries(150) },
    );
  });
});

describe("the envelope", () => {
  it("takes context keys it does not know, and a CLI's context without request id", () => {
    expect(matches(cpiRequest, example("v2/create_vm.cli-style.request.json"))).toBe(true);
    expect(matches(cpiRequest, { ...example("v1/has_vm.request.json"), extra: 1 })).toBe(true);
  });

  it.each(["2", 0, -1, 1.5, null, true, [2]])("refuses api_version %j by name", (version) => {
    const checked = check(
      cpiRequest,
      { ...example("v1/has_vm.request.json"), api_version: version },
      "request",
    );
    expect(!checked.ok && checked.problems[0]).toMatch(/^request\.api_version: /);
  });

  it("takes a version that is not known yet: whether to speak it is decided elsewhere", () => {
    expect(matches(cpiRequest, { ...example("v1/has_vm.request.json"), api_version: 99 })).toBe(true);
  });
});
