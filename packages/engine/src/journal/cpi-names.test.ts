import type { StemcellCid } from "@slipway/protocol/ids";
import { describe, expect, it } from "vitest";
import type { InstanceRecord } from "../model/records.ts";
import { group, input, manifest, planned, stemcell } from "../plan/testing/builders.ts";
import { asDeployed } from "../plan/testing/world.ts";
import { stemcellsByCpiName, withCpiNames } from "./cpi-names.ts";

const nameOf = (name: string) => (name === "" || name === "old" ? "new" : name);

describe("what is recorded under a name of before", () => {
  const [instance] = asDeployed(
    planned(input({ manifest: manifest([group("db", 1, { persistentDisk: { size: 1 } })]) })),
  ).instances;

  it("is read under the name of today", () => {
    const seen = withCpiNames(instance as InstanceRecord, nameOf);
    expect([...seen.vms, ...seen.disks].map(({ cpi }) => cpi)).toEqual(["new", "new"]);
    // Nothing was renamed: the very same, so that a store sees no change.
    expect(withCpiNames(seen, nameOf)).toBe(seen);
  });

  it("prefers a stemcell recorded under the current name", () => {
    const rows = [stemcell("1.1", "", 1), stemcell("1.1", "new", 2), stemcell("1.1", "other", 3)];
    const cids = (cpi: string) =>
      stemcellsByCpiName(rows, nameOf)
        .filter((row) => row.cpi === cpi)
        .map(({ cid }) => cid);
    expect(cids("new")).toEqual(["sc-1.1-new", "sc-1.1-"] as StemcellCid[]);
    expect(cids("other")).toEqual(["sc-1.1-other"]);
  });
});
