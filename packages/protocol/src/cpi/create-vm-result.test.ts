import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutNulls } from "../schema/without-nulls.ts";
import type { Networks } from "../settings/networks.ts";
import { networks as networksSchema } from "../settings/networks.ts";
import { API_VERSIONS, type ApiVersion } from "./api-version.ts";
import { type CreatedVm, parseCreateVmResult } from "./create-vm-result.ts";

const NETWORKS: Networks = { berth: { type: "manual", ip: "10.20.1.17", cloud_properties: {} } };
const DISKS = { system: "/dev/sda", ephemeral: "/dev/sdb" };

function read(value: unknown, apiVersion: ApiVersion = 2, networks?: Networks): CreatedVm {
  const parsed = parseCreateVmResult(value, { apiVersion, networks });
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.vm;
}

function problem(value: unknown, apiVersion: ApiVersion = 2): string {
  const parsed = parseCreateVmResult(value, { apiVersion });
  if (parsed.ok) throw new Error(`it was read as ${parsed.vm.dialect}`);
  return parsed.problem;
}

describe("networks with nulls", () => {
  it("are read without them, as CPIs in Go and Ruby return them", () => {
    const berth = { type: "dynamic", ip: null, netmask: null, gateway: null, dns: null, mac: null };
    expect(parseCreateVmResult(["vm-1", { berth }], { apiVersion: 2 })).toEqual({
      ok: true,
      vm: { dialect: "shipped", cid: "vm-1", networks: { berth: { type: "dynamic" } }, disks: undefined },
    });
  });
});

describe("a create_vm result of version 1", () => {
  it("is the cid", () => {
    expect(read("vm-1", 1)).toEqual({ dialect: "v1", cid: "vm-1", networks: undefined, disks: undefined });
  });

  it.each([
    [""],
    [" "],
    [null],
    [7],
    [true],
    [[]],
    [["vm-1"]],
    [["vm-1", {}]],
    [{ vm_cid: "vm-1" }],
    [undefined],
  ])("is refused when it is %j", (value) => {
    expect(problem(value, 1)).toContain("create_vm under api_version 1 must return the VM cid");
  });
});

describe.each([2, 3] as const)("a create_vm result of version %i", (version) => {
  it("is the cid and the networks", () => {
    const vm = read(["vm-1", NETWORKS], version);
    expect(vm).toEqual({ dialect: "shipped", cid: "vm-1", networks: NETWORKS, disks: undefined });
  });

  it.each([[["vm-1", {}]], [["vm-1", null]], [["vm-1"]]])("is the cid without networks in %j", (value) => {
    expect(read(value, version)).toEqual({ dialect: "shipped", cid: "vm-1", networks: {}, disks: undefined });
  });

  it("is the cid and the disks in draft A", () => {
    const vm = read(["vm-1", DISKS], version, NETWORKS);
    expect(vm).toEqual({ dialect: "draft-a", cid: "vm-1", networks: undefined, disks: DISKS });
  });

  it.each([["system"], ["ephemeral"], ["persistent"], ["raw_ephemeral"]])(
    "is draft A when only %s is given",
    (key) => {
      const value = { system: "/dev/sda", ephemeral: "/dev/sdb", persistent: {}, raw_ephemeral: [] }[key];
      expect(read(["vm-1", { [key]: value }], version)).toMatchObject({
        dialect: "draft-a",
        disks: { [key]: value },
      });
    },
  );

  it("is the cid, the networks and the disks in draft B", () => {
    const disks = { ...DISKS, persistent: {} };
    expect(read(["vm-1", NETWORKS, disks], version)).toEqual({
      dialect: "draft-b",
      cid: "vm-1",
      networks: NETWORKS,
      disks,
    });
    expect(read(["vm-1", null, null], version)).toEqual({
      dialect: "draft-b",
      cid: "vm-1",
      networks: {},
      disks: {},
    });
  });

  it("is an object with vm_cid as in spring 2018", () => {
    const vm = read({ vm_cid: "vm-1", networks: NETWORKS, disk_hints: DISKS }, version);
    expect(vm).toEqual({ dialect: "2018-object", cid: "vm-1", networks: NETWORKS, disks: DISKS });
    expect(read({ vm_cid: "vm-1" }, version)).toEqual({
      dialect: "2018-object",
      cid: "vm-1",
      networks: {},
      disks: {},
    });
  });

  it("is networks when the deployment calls its networks like disks", () => {
    const networks: Networks = { system: { type: "manual" }, ephemeral: { type: "dynamic" } };
    expect(read(["vm-1", networks], version, networks)).toMatchObject({ dialect: "shipped", networks });
    // Only some of those names: then it is read as disks, and these are not valid ones.
    expect(
      parseCreateVmResult(["vm-1", { system: { type: "manual" } }], { apiVersion: version, networks }).ok,
    ).toBe(false);
  });

  it("is networks when one key is not a disk key", () => {
    const networks = { system: { type: "manual" }, berth: {} };
    expect(read(["vm-1", networks], version)).toMatchObject({ dialect: "shipped", networks });
  });

  it("is refused as a bare string, and no letter of it becomes a cid", () => {
    expect(problem("vm-4c1e", version)).toBe(
      `create_vm under api_version ${version} must return [cid, networks], got a string`,
    );
  });

  it.each([[""], [null], [7], [true], [{}], [{ networks: {} }], [undefined]])(
    "is refused when it is %j",
    (value) => {
      expect(problem(value, version)).toContain("must return [cid, networks]");
    },
  );

  it.each([
    [[]],
    [[""]],
    [[" ", {}]],
    [[null, {}]],
    [[7, {}]],
    [[["vm-1"], {}]],
    [[{ vm_cid: "x" }]],
    [{ vm_cid: "" }],
    [{ vm_cid: 7 }],
  ])("is refused for its cid when it is %j", (value) => {
    expect(problem(value, version)).toMatch(/must be a non-empty string, got/);
  });

  it.each([
    [["vm-1", []], "its second element is not a networks hash"],
    [["vm-1", "berth"], "its second element is not a networks hash"],
    [["vm-1", { berth: "10.0.0.1" }], "networks.berth"],
    [["vm-1", { system: 7 }], "its second element is not a disks hash: disks.system"],
    [["vm-1", { system: { path: "/dev/sda" } }], "disks.system"],
    [["vm-1", {}, []], "its third element is not a disks hash"],
    [["vm-1", [], {}], "its second element is not a networks hash"],
    [["vm-1", {}, { persistent: { "disk-1": { lun: 1 } } }], "disks.persistent.disk-1.lun"],
    [["vm-1", {}, {}, {}], "got an array of 4"],
    [{ vm_cid: "vm-1", networks: [] }, "networks"],
    [{ vm_cid: "vm-1", disk_hints: { system: 1 } }, "disk_hints.system"],
  ])("is refused with the place when it is %j", (value, place) => {
    expect(problem(value, version)).toContain(place);
  });
});

describe("any create_vm result", () => {
  const networks = arbitraryFor(networksSchema);
  const shapes = fc.oneof(
    networks.map((nets) => ["vm-1", nets]),
    networks.map((nets) => ["vm-1", nets, DISKS]),
    fc.constantFrom<unknown>("vm-1", ["vm-1", DISKS], {
      vm_cid: "vm-1",
      networks: NETWORKS,
      disk_hints: DISKS,
    }),
  );
  const version = fc.constantFrom(...API_VERSIONS);

  it("is read or refused but never throws, and a cid that passes is never empty", () => {
    fc.assert(
      fc.property(fc.oneof(shapes.chain(mutated), fc.anything()), version, (value, apiVersion) => {
        const parsed = parseCreateVmResult(value, { apiVersion, networks: NETWORKS });
        if (parsed.ok) expect(parsed.vm.cid.trim()).not.toBe("");
        else expect(parsed.problem).toContain("create_vm under api_version");
      }),
      { numRuns: tries(300) },
    );
  });

  it("has the cid that stands in it, whole", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((cid) => cid.trim() !== ""),
        networks,
        (cid, nets) => {
          expect(read(cid, 1).cid).toBe(cid);
          expect(read([cid, nets], 2, nets as Networks)).toMatchObject({
            dialect: "shipped",
            cid,
            networks: withoutNulls(nets),
          });
        },
      ),
    );
  });
});
