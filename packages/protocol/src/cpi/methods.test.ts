import { describe, expect, it } from "vitest";
import { API_VERSIONS, knownVersion, NEWEST_API_VERSION } from "./api-version.ts";
import { stemcellVersion } from "./context.ts";
import { CPI_ERRORS, errorNameOf, isLegacyNotImplemented } from "./errors.ts";
import { argsIn, camel, existsIn, resultIn } from "./method.ts";
import { CPI_METHOD_NAMES, CPI_METHODS, methodNamed } from "./methods.ts";

/** Names, number of arguments in versions 1 and 3: from the reference, not from the code. */
const REFERENCE: Readonly<Record<string, readonly [number, number | undefined]>> = {
  attach_disk: [2, 2],
  calculate_vm_cloud_properties: [1, 1],
  configure_networks: [2, undefined],
  create_disk: [3, 3],
  create_network: [1, 1],
  create_stemcell: [2, 3],
  create_vm: [6, 6],
  current_vm_id: [0, 0],
  delete_disk: [1, 1],
  delete_network: [1, 1],
  delete_snapshot: [1, 1],
  delete_stemcell: [1, 1],
  delete_vm: [1, 1],
  detach_disk: [2, 2],
  get_disks: [1, 1],
  // Ours, beside the reference.
  get_vm_log: [1, 1],
  list_resources: [0, 0],
  has_disk: [1, 1],
  has_vm: [1, 1],
  info: [0, 0],
  ping: [0, 0],
  reboot_vm: [1, 1],
  resize_disk: [2, 2],
  set_disk_metadata: [2, 2],
  set_vm_metadata: [2, 2],
  snapshot_disk: [2, 2],
  update_disk: [3, 3],
};

describe("the methods of the contract", () => {
  it("are those of the reference", () => {
    expect([...CPI_METHOD_NAMES].sort()).toEqual(Object.keys(REFERENCE).sort());
  });

  it.each(Object.entries(REFERENCE))("%s takes as many arguments as the reference says", (name, [v1, v3]) => {
    const method = methodNamed(name);
    if (method === undefined) throw new Error("it is missing");
    expect(argsIn(method, 1)).toHaveLength(v1);
    expect(argsIn(method, 2)).toHaveLength(v1);
    expect(existsIn(method, 3)).toBe(v3 !== undefined);
    if (v3 !== undefined) expect(argsIn(method, 3)).toHaveLength(v3);
  });

  it("are listed under their own wire names, with documentation and known errors", () => {
    for (const [name, method] of Object.entries(CPI_METHODS)) {
      expect(method.name).toBe(name);
      expect(method.summary).toMatch(/\.$/);
      for (const error of method.errors) expect(CPI_ERRORS).toHaveProperty(error);
      expect(new Set(method.errors).size).toBe(method.errors.length);
    }
  });

  it("all exist in version 1, and only configure_networks is gone later", () => {
    for (const name of CPI_METHOD_NAMES) expect(existsIn(CPI_METHODS[name], 1)).toBe(true);
    const gone = CPI_METHOD_NAMES.filter((name) => !existsIn(CPI_METHODS[name], 2));
    expect(gone).toEqual(["configure_networks"]);
  });

  it("change their result in version 2 only for create_vm and attach_disk, and never in version 3", () => {
    const changed = (a: 1 | 2, b: 2 | 3) =>
      CPI_METHOD_NAMES.filter(
        (name) => resultIn(CPI_METHODS[name], a) !== resultIn(CPI_METHODS[name], b),
      ).sort();
    expect(changed(1, 2)).toEqual(["attach_disk", "create_vm"]);
    expect(changed(2, 3)).toEqual([]);
  });

  it("methods that create something are marked so, and only detach_disk fails when repeated", () => {
    const repeat = (kind: string) =>
      CPI_METHOD_NAMES.filter((name) => CPI_METHODS[name].repeat === kind).sort();
    expect(repeat("creates")).toEqual([
      "create_disk",
      "create_network",
      "create_stemcell",
      "create_vm",
      "snapshot_disk",
    ]);
    expect(repeat("fails")).toEqual(["detach_disk"]);
  });

  it("are not found under names that every object has", () => {
    for (const name of ["toString", "constructor", "__proto__", "", "createVm"])
      expect(methodNamed(name)).toBeUndefined();
  });

  it("have camel-case names in code", () => {
    expect(camel("calculate_vm_cloud_properties")).toBe("calculateVmCloudProperties");
    expect(camel("info")).toBe("info");
  });
});

describe("versions", () => {
  it("newer than the newest are read as the newest, between them as the lower", () => {
    expect([1, 2, 3, 4, 99].map(knownVersion)).toEqual([1, 2, 3, 3, 3]);
    expect(NEWEST_API_VERSION).toBe(API_VERSIONS.at(-1));
  });

  it("the stemcell version is unknown wherever the context leaves it out", () => {
    const read = (vm: object | null | undefined) =>
      stemcellVersion({ director_uuid: "d", vm } as Parameters<typeof stemcellVersion>[0]);
    for (const vm of [
      undefined,
      null,
      {},
      { stemcell: null },
      { stemcell: {} },
      { stemcell: { api_version: null } },
    ])
      expect(read(vm)).toBeUndefined();
    expect(read({ stemcell: { api_version: 2 } })).toBe(2);
  });
});

describe("the error types", () => {
  it("have the wire names of the reference", () => {
    const bosh = [
      "CpiError",
      "NotImplemented",
      "NotSupported",
      "CloudError",
      "VMNotFound",
      "NetworkNotFound",
    ].concat(
      ["StemcellNotFound", "NoDiskSpace", "DiskNotAttached", "DiskNotFound", "VMCreationFailed"],
      ["CPIAPIVersionNotSupported", "AttachDiskResponseError"],
    );
    for (const name of bosh) expect(errorNameOf(`Bosh::Clouds::${name}`, "")).toBe(name);
    expect(errorNameOf("InvalidCall", "")).toBe("InvalidCall");
    expect(errorNameOf("Unknown", "")).toBe("Unknown");
    expect(Object.keys(CPI_ERRORS)).toHaveLength(bosh.length + 2);
  });

  it("carry the retry flag exactly where the Director reads it", () => {
    const carrying = Object.entries(CPI_ERRORS).filter(([, error]) => error.retryFlag);
    expect(carrying.map(([name]) => name).sort()).toEqual([
      "DiskNotAttached",
      "DiskNotFound",
      "NoDiskSpace",
      "VMCreationFailed",
    ]);
  });

  it("a type outside the contract has no name", () => {
    for (const type of ["", "NotImplemented", "Bosh::Clouds::Nonsense", "toString"])
      expect(errorNameOf(type, "")).toBeUndefined();
  });

  it("two older spellings mean NotImplemented, and only with their message", () => {
    expect(errorNameOf("InvalidCall", "Method is not known, got: 'x'")).toBe("NotImplemented");
    expect(errorNameOf("Bosh::Clouds::CloudError", "Invalid Method: x")).toBe("NotImplemented");
    expect(isLegacyNotImplemented("InvalidCall", "Arguments must be an Array")).toBe(false);
    expect(isLegacyNotImplemented("Bosh::Clouds::CloudError", "Method is not known, got")).toBe(false);
    expect(isLegacyNotImplemented("InvalidCall", "Invalid Method: x")).toBe(false);
    expect(isLegacyNotImplemented("Bosh::Clouds::CpiError", "Invalid Method: x")).toBe(false);
  });
});
