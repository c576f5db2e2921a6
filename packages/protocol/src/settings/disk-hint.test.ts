import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import { readExamples } from "@slipway/testkit/wire-examples";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DiskCid } from "../ids.ts";
import { matches } from "../schema/check.ts";
import {
  type DiskHint,
  type DiskHintWire,
  diskHintWire,
  formatDiskHint,
  parseDiskHint,
} from "./disk-hint.ts";
import { type StoredDiskHint, storeHint } from "./persistent-disk-hints.ts";

function read(wire: unknown): DiskHint {
  const parsed = parseDiskHint(wire);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.hint;
}

function problem(wire: unknown): string {
  const parsed = parseDiskHint(wire);
  if (parsed.ok) throw new Error(`it was read as ${parsed.hint.kind}`);
  return parsed.problem;
}

const ISCSI = { initiator_name: "iqn", username: "user", password: "fake", target: "10.0.0.9" };

interface HintExample {
  readonly disk_cid: DiskCid;
  readonly hint: DiskHintWire;
  readonly kind: DiskHint["kind"];
  readonly stored: StoredDiskHint;
}
const examples = readExamples("hints").map(
  (example) => [example.path, example.content as HintExample] as const,
);

describe("a disk hint example", () => {
  it.each(examples)("%s is of its kind and comes back as it was", (_, { hint, kind }) => {
    expect(matches(diskHintWire, hint)).toBe(true);
    expect(read(hint).kind).toBe(kind);
    expect(formatDiskHint(read(hint))).toEqual(hint);
  });

  it.each(examples)("%s is stored as an agent stores it", (_, { disk_cid, hint, stored }) => {
    expect(storeHint(disk_cid, read(hint))).toEqual(stored);
  });

  it("is there for every kind", () => {
    const kinds = [...new Set(examples.map(([, { kind }]) => kind))].sort();
    expect(kinds).toEqual(["id", "iscsi", "lun", "opaque", "path", "text", "volume_id"]);
  });
});

describe("the kind of a hint", () => {
  it("is what names the disk itself before what names a place", () => {
    const all = { path: "p", volume_id: "v", id: "i", lun: "l", host_device_id: "h", iscsi_settings: ISCSI };
    expect(read(all).kind).toBe("iscsi");
    const { iscsi_settings: _, ...noIscsi } = all;
    expect(read(noIscsi).kind).toBe("id");
    const { id: __, ...noId } = noIscsi;
    expect(read(noId).kind).toBe("volume_id");
    const { volume_id: ___, ...noVolume } = noId;
    expect(read(noVolume).kind).toBe("lun");
    const { lun: ____, ...noLun } = noVolume;
    expect(read(noLun).kind).toBe("path");
    expect(read({ host_device_id: "h" }).kind).toBe("opaque");
  });

  it("brings along all that it was given with", () => {
    expect(read({ lun: "1", host_device_id: "{f8}", path: "/dev/sdd", vendor: "x" })).toEqual({
      kind: "lun",
      lun: "1",
      hostDeviceId: "{f8}",
      path: "/dev/sdd",
      extra: { vendor: "x" },
    });
  });
});

describe("what is no hint", () => {
  it.each([
    ["", "must not be an empty string"],
    [" \t", "must not be an empty string"],
    [{}, "must not be an empty object"],
    [null, "got null"],
    [undefined, "got nothing"],
    [4, "got a number"],
    [["/dev/sdd"], "got an array of 1"],
  ])("%j is refused", (wire, text) => {
    expect(problem(wire)).toContain(text);
    expect(matches(diskHintWire, wire)).toBe(false);
  });

  it.each([["path"], ["volume_id"], ["id"], ["lun"], ["host_device_id"]])(
    "a %s that is not a string is refused by name, because an agent panics on it",
    (key) => {
      for (const value of [0, 1.5, true, null, [], {}, ["x"]])
        expect(problem({ [key]: value })).toContain(`hint.${key}: `);
    },
  );

  it.each(Object.keys(ISCSI))("iSCSI settings without a string for %s are refused by name", (key) => {
    expect(problem({ iscsi_settings: { ...ISCSI, [key]: 7 } })).toContain(`hint.iscsi_settings.${key}: `);
    const { [key as "target"]: _, ...rest } = ISCSI;
    expect(problem({ iscsi_settings: rest })).toContain(`hint.iscsi_settings.${key}: it is missing`);
  });

  it("is not quoted", () => {
    for (const wire of [
      { iscsi_settings: { ...ISCSI, target: ["canary-1"] } },
      ["canary-1"],
      { lun: { x: "canary-1" } },
    ])
      expect(problem(wire)).not.toContain("canary");
  });
});

describe("any hint", () => {
  const wire = arbitraryFor(diskHintWire);

  it("comes back from reading and writing as it was, with unknown keys, at both levels", () => {
    fc.assert(
      fc.property(wire, (hint) => {
        expect(formatDiskHint(read(hint))).toEqual(hint);
        expect(read(formatDiskHint(read(hint)))).toEqual(read(hint));
      }),
      { numRuns: tries(300) },
    );
    const withExtras = { iscsi_settings: { ...ISCSI, port: 3260 }, bus: { n: [1] }, __proto__x: "1" };
    expect(formatDiskHint(read(withExtras))).toEqual(withExtras);
  });

  it("keeps even a key that looks like a prototype, without making it one", () => {
    const hint = JSON.parse(
      '{"path":"/dev/sdd","__proto__":{"polluted":"yes"},"constructor":"x"}',
    ) as unknown;
    const back = formatDiskHint(read(hint));
    expect(JSON.stringify(back)).toBe(JSON.stringify(hint));
    expect((back as { polluted?: unknown }).polluted).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("spoiled is read or refused but never throws, and the schema and the reader agree", () => {
    fc.assert(
      fc.property(fc.oneof(wire.chain(mutated), fc.jsonValue()), (value) => {
        expect(parseDiskHint(value).ok).toBe(matches(diskHintWire, value));
      }),
      { numRuns: tries(500) },
    );
  });
});
