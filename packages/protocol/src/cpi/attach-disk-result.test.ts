import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DiskCid } from "../ids.ts";
import { type DiskHintWire, diskHintWire, formatDiskHint } from "../settings/disk-hint.ts";
import { disks as disksSchema } from "../settings/disks.ts";
import { API_VERSIONS, type ApiVersion } from "./api-version.ts";
import { type AttachedDisk, parseAttachDiskResult } from "./attach-disk-result.ts";

const CID = "disk-1" as DiskCid;

function read(value: unknown, apiVersion: ApiVersion = 2): AttachedDisk {
  const parsed = parseAttachDiskResult(value, { apiVersion, diskCid: CID });
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.disk;
}

function problem(value: unknown, apiVersion: ApiVersion = 2): string {
  const parsed = parseAttachDiskResult(value, { apiVersion, diskCid: CID });
  if (parsed.ok) throw new Error(`it was read as ${parsed.disk.dialect}`);
  return parsed.problem;
}

describe("an attach_disk result of version 1", () => {
  it.each([[null], [""], [{}], ["/dev/sdd"], [7], [undefined]])("means nothing when it is %j", (value) => {
    expect(read(value, 1)).toEqual({ dialect: "v1", hint: undefined, disks: undefined });
  });
});

describe.each([2, 3] as const)("an attach_disk result of version %i", (version) => {
  it.each([
    ["/dev/sdd", "text"],
    ["4", "text"],
    [{ path: "/dev/sdd" }, "path"],
    [{ volume_id: "4" }, "volume_id"],
    [{ id: "6000c2" }, "id"],
    [{ lun: "1", host_device_id: "{f8}", path: "/dev/sdd" }, "lun"],
    [{ whatever: "1" }, "opaque"],
  ])("is the hint %j", (value, kind) => {
    expect(read(value, version)).toMatchObject({ dialect: "shipped", hint: { kind }, disks: undefined });
  });

  it.each([[null], [""], [{}], [undefined]])(
    "has no hint when it is %j, in the words of the Director",
    (value) => {
      expect(problem(value, version)).toMatch(/^No disk_hint: attach_disk returned /);
    },
  );

  it.each([
    [7],
    [true],
    [[]],
    [["/dev/sdd"]],
    ["  "],
    [{ lun: 1 }],
    [{ path: null }],
    [{ iscsi_settings: {} }],
  ])("has no usable hint when it is %j", (value) => {
    expect(problem(value, version)).toContain("attach_disk returned no usable disk hint");
  });

  it("is the whole of the disks in draft B, with the hint of the disk attached in them", () => {
    const disks = {
      system: "/dev/sda",
      persistent: { "disk-0": "/dev/sdc", "disk-1": { path: "/dev/sdd" } },
    };
    expect(read(disks, version)).toEqual({
      dialect: "draft-b",
      hint: { kind: "path", path: "/dev/sdd" },
      disks,
    });
  });

  it("is the brief shape of 2018, which is the same with nothing but the disk", () => {
    expect(read({ persistent: { "disk-1": { path: "/dev/sdd" } } }, version)).toMatchObject({
      dialect: "draft-b",
      hint: { kind: "path" },
    });
  });

  it.each([
    [{ persistent: {} }, "without the one attached"],
    [{ persistent: { "disk-0": "/dev/sdc" } }, "without the one attached"],
    [{ persistent: { "disk-1": "" } }, "do not fit: disks.persistent.disk-1"],
    [{ persistent: { "disk-1": { lun: 1 } } }, "disks.persistent.disk-1.lun"],
    [{ persistent: [] }, "do not fit: disks.persistent"],
    [{ system: { path: "/dev/sda" }, persistent: { "disk-1": "/dev/sdd" } }, "disks.system"],
  ])("is refused when the disks are %j", (value, place) => {
    expect(problem(value, version)).toContain(place);
  });

  it("is a hint when `persistent` is no object: then it is an unknown key", () => {
    expect(read({ persistent: "yes", path: "/dev/sdd" }, version)).toMatchObject({
      dialect: "shipped",
      hint: { kind: "path" },
    });
  });
});

describe("any attach_disk result", () => {
  const wire = arbitraryFor(diskHintWire);
  const version = fc.constantFrom(...API_VERSIONS);

  it("a hint comes through unchanged", () => {
    fc.assert(
      fc.property(wire, (value) => {
        const { hint } = read(value);
        expect(hint && formatDiskHint(hint)).toEqual(value as DiskHintWire);
      }),
    );
  });

  it("is read or refused but never throws, and from version 2 on there is always a hint", () => {
    const value = fc.oneof(wire.chain(mutated), arbitraryFor(disksSchema).chain(mutated), fc.anything());
    fc.assert(
      fc.property(value, version, (given, apiVersion) => {
        const parsed = parseAttachDiskResult(given, { apiVersion, diskCid: CID });
        if (parsed.ok) expect(parsed.disk.hint === undefined).toBe(apiVersion === 1);
        else expect(parsed.problem).not.toBe("");
      }),
      { numRuns: tries(300) },
    );
  });
});
