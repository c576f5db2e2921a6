import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { readExample } from "@slipway/testkit/wire-examples";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DiskCid } from "../ids.ts";
import { type DiskHint, parseDiskHint } from "./disk-hint.ts";
import {
  checkPersistentDiskHints,
  hintFromStored,
  persistentDiskHints,
  type StoredDiskHint,
  storedDiskHint,
  storeHint,
} from "./persistent-disk-hints.ts";

const CID = "disk-1" as DiskCid;
const NOTHING = storeHint(CID, { kind: "opaque", extra: {} });
const hintOf = (wire: unknown): DiskHint => {
  const parsed = parseDiskHint(wire);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.hint;
};

describe("a stored hint", () => {
  it("a text is stored as both path and volume id", () => {
    expect(storeHint(CID, hintOf("/dev/sdd"))).toEqual({
      ...NOTHING,
      Path: "/dev/sdd",
      VolumeID: "/dev/sdd",
    });
    expect(hintFromStored({ ...NOTHING, Path: "3", VolumeID: "3" })).toEqual({ kind: "text", text: "3" });
  });

  it("has all of an agent's fields, empty where nothing is known", () => {
    expect(NOTHING).toEqual({
      ID: "disk-1",
      DeviceID: "",
      VolumeID: "",
      Lun: "",
      HostDeviceID: "",
      Path: "",
      ISCSISettings: { InitiatorName: "", Username: "", Target: "", Password: "" },
      FileSystemType: "",
      MountOptions: null,
      Partitioner: "",
    });
  });

  it("keeps how the disk is to be mounted", () => {
    const mount = { fileSystem: "xfs", mountOptions: ["noatime"], partitioner: "parted" };
    expect(storeHint(CID, hintOf("x"), mount)).toMatchObject({
      FileSystemType: "xfs",
      MountOptions: ["noatime"],
      Partitioner: "parted",
    });
  });

  it("a stored hint that identifies nothing is no hint", () => {
    expect(hintFromStored(NOTHING)).toBeUndefined();
  });

  it.each([
    [{ path: "/dev/sdd" }],
    [{ volume_id: "3" }],
    [{ id: "6000c2" }],
    [{ id: "6000c2", path: "/dev/sdd" }],
    [{ lun: "1" }],
    [{ lun: "1", host_device_id: "{f8}", path: "/dev/sdd" }],
    [{ path: "/dev/sdd", volume_id: "3" }],
    [{ iscsi_settings: { initiator_name: "iqn", username: "user", password: "fake", target: "10.0.0.9" } }],
  ])("the hint %j is read back the same", (wire) => {
    expect(hintFromStored(storeHint(CID, hintOf(wire)))).toEqual(hintOf(wire));
  });

  it("equal path and volume id are read as a text, and stored the same again", () => {
    const stored = storeHint(CID, hintOf({ path: "x", volume_id: "x" }));
    const hint = hintFromStored(stored);
    expect(hint).toEqual({ kind: "text", text: "x" });
    expect(hint && storeHint(CID, hint)).toEqual(stored);
  });
});

describe("any stored hint", () => {
  const part = fc.constantFrom("", "/dev/sdd", "3", "x");
  const entry: fc.Arbitrary<StoredDiskHint> = fc.record({
    ID: fc.constant("disk-1"),
    DeviceID: part,
    VolumeID: part,
    Lun: part,
    HostDeviceID: part,
    Path: part,
    ISCSISettings: fc.oneof(
      fc.constant({ InitiatorName: "", Username: "", Target: "", Password: "" }),
      fc.record({ InitiatorName: part, Username: part, Target: fc.constant("10.0.0.9"), Password: part }),
    ),
    FileSystemType: fc.constantFrom("", "ext4", "xfs"),
    MountOptions: fc.option(fc.array(part)),
    Partitioner: part,
  });

  it("a hint that identifies a disk is stored again as it was", () => {
    fc.assert(
      fc.property(entry, (stored) => {
        const hint = hintFromStored(stored);
        fc.pre(hint !== undefined);
        const mount = {
          fileSystem: stored.FileSystemType,
          mountOptions: stored.MountOptions,
          partitioner: stored.Partitioner,
        };
        expect(hint && storeHint(CID, hint, mount)).toEqual(stored);
      }),
    );
  });

  it("any entry that fits the schema can be read, and a spoiled file is refused but never throws", () => {
    fc.assert(
      fc.property(arbitraryFor(storedDiskHint), (stored) => {
        hintFromStored(stored as StoredDiskHint);
      }),
    );
    fc.assert(
      fc.property(arbitraryFor(persistentDiskHints).chain(mutated), (file) => {
        const checked = checkPersistentDiskHints(file);
        if (checked.ok) Object.values(checked.value).forEach(hintFromStored);
        else expect(checked.problems[0]).toContain("persistent_disk_hints.json");
      }),
    );
  });
});

describe("the hints file of an agent", () => {
  it("is read from the example with the hints it stands for", () => {
    const checked = checkPersistentDiskHints(readExample("settings/persistent-disk-hints.two-disks.json"));
    if (!checked.ok) throw new Error(checked.problems.join());
    expect(Object.entries(checked.value).map(([cid, stored]) => [cid, hintFromStored(stored)?.kind])).toEqual(
      [
        ["disk-77a0", "text"],
        ["disk-6600", "id"],
      ],
    );
  });
});
