import { vm, vmCid } from "@slipway/testkit/vm-record";
import { describe, expect, it } from "vitest";
import type { InstanceRecord } from "../model/records.ts";
import { applyWrites, NO_EFFECTS } from "./writes.ts";

const held = (...addresses: readonly string[]) =>
  ({
    vms: [
      { id: 1, ...vm("vm-old", { networks: { a: { type: "manual", ip: "10.0.0.16", prefix: "28" } } }) },
      { id: 2, ...vm("vm-new", { networks: { a: { type: "manual", ip: "10.0.0.32", prefix: "28" } } }) },
    ],
    disks: [],
    ips: addresses.map((address) => ({ address, network: "a", static: false })),
  }) as unknown as InstanceRecord;

describe("a VM that is orphaned", () => {
  it.each([
    ["its prefix", ["10.0.0.16/28", "10.0.0.32/28"], ["10.0.0.16/28"], ["10.0.0.32/28"]],
    ["its address", ["10.0.0.16", "10.0.0.32"], ["10.0.0.16"], ["10.0.0.32"]],
  ])("takes %s along, and no other", (_, addresses, gone, left) => {
    const { instance, effects } = applyWrites(held(...addresses), NO_EFFECTS, (writes) =>
      writes.orphanVm(vmCid("vm-old")),
    );
    expect(effects.orphanedVms.map((one) => one.addresses)).toEqual([gone]);
    expect(instance?.ips.map(({ address }) => address)).toEqual(left);
  });
});
