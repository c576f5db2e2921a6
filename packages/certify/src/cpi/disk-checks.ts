import { parseAttachDiskResult } from "@slipway/protocol/cpi/attach-disk-result";
import type { DiskCid } from "@slipway/protocol/ids";
import { CannotTell, expectEqual, expectTrue } from "../expect.ts";
import type { DISK_RULES } from "../rules/disk-rules.ts";
import type { ChecksOf } from "./check.ts";
import type { ResourceTracker } from "./resource-tracker.ts";

const DISK_NOT_FOUND = "Bosh::Clouds::DiskNotFound";
const CLOUD_ERROR = "Bosh::Clouds::CloudError";
const NOBODY = "disk-nobody-has";
const larger = (cloud: ResourceTracker) => Math.ceil(cloud.diskSize * 1.5);

async function attached(
  cloud: ResourceTracker,
  to?: string,
): Promise<{ vm: string; disk: string; hint: unknown }> {
  const [vm, disk] = [to ?? (await cloud.vm()), await cloud.newDisk()];
  return { vm, disk, hint: await cloud.result("attach_disk", [vm, disk]) };
}

const has = (cloud: ResourceTracker, disk: string) => cloud.result<boolean>("has_disk", [disk]);
const disksOf = (cloud: ResourceTracker, vm: string) => cloud.result<string[]>("get_disks", [vm]);

/** Disks and snapshots. */
export const DISK_CHECKS: ChecksOf<typeof DISK_RULES> = {
  "CPI-DISK-001": async (cloud) => {
    const { vm, disk } = await attached(cloud, await cloud.newVm());
    await cloud.result("delete_vm", [vm]);
    expectEqual(await has(cloud, disk), true, "has_disk");
    await cloud.result("attach_disk", [await cloud.vm(), disk]);
  },
  "CPI-DISK-002": async (cloud) => {
    for (const size of [cloud.diskSize, cloud.diskSize + 1]) {
      const cid = await cloud.result("create_disk", cloud.diskArguments(size));
      expectTrue(typeof cid === "string" && cid !== "", `the cid is ${JSON.stringify(cid)}`);
      cloud.remember("delete_disk", String(cid));
    }
  },
  "CPI-DISK-003": async (cloud) => {
    const disk = await cloud.newDisk();
    expectEqual(await has(cloud, disk), true, "has_disk of one that is there");
    await cloud.result("delete_disk", [disk]);
    for (const cid of [disk, NOBODY, "../etc", "-rf", "a b"])
      expectEqual(await has(cloud, cid), false, `has_disk of ${cid}`);
  },
  "CPI-DISK-004": async (cloud) => {
    const { disk, hint } = await attached(cloud);
    if (cloud.version === 1) throw new CannotTell("version 1 has no hints");
    const parsed = parseAttachDiskResult(hint, { apiVersion: cloud.version, diskCid: disk as DiskCid });
    expectTrue(parsed.ok, `the hint is ${JSON.stringify(hint)}`);
  },
  "CPI-DISK-005": async (cloud) => {
    const { vm, disk, hint } = await attached(cloud);
    expectEqual(await cloud.result("attach_disk", [vm, disk]), hint, "the hint");
    expectEqual(await disksOf(cloud, vm), [disk], "get_disks");
  },
  "CPI-DISK-006": async (cloud) => {
    const { vm, disk, hint } = await attached(cloud);
    const second = await cloud.newDisk();
    const other = await cloud.result("attach_disk", [vm, second]);
    if (cloud.version > 1)
      expectTrue(JSON.stringify(other) !== JSON.stringify(hint), `both are ${JSON.stringify(hint)}`);
    expectEqual(await cloud.result("attach_disk", [vm, disk]), hint, "the first hint");
    expectEqual((await disksOf(cloud, vm)).sort(), [disk, second].sort(), "get_disks");
  },
  "CPI-DISK-007": async (cloud) => {
    const [vm, disk] = [await cloud.vm(), await cloud.newDisk()];
    await cloud.refusal("attach_disk", [vm, NOBODY], DISK_NOT_FOUND, CLOUD_ERROR);
    await cloud.refusal("attach_disk", ["vm-nobody-has", disk], "Bosh::Clouds::VMNotFound", CLOUD_ERROR);
    expectEqual(await disksOf(cloud, vm), [], "get_disks");
    await cloud.result("attach_disk", [vm, disk]);
  },
  "CPI-DISK-008": async (cloud) => {
    const { vm, disk } = await attached(cloud);
    const other = await cloud.newVm();
    await cloud.refusal("attach_disk", [other, disk]);
    expectEqual(await disksOf(cloud, vm), [disk], "get_disks of the one");
    expectEqual(await disksOf(cloud, other), [], "get_disks of the other");
  },
  "CPI-DISK-009": async (cloud) => {
    const { vm, disk } = await attached(cloud);
    const second = await cloud.newDisk();
    await cloud.result("attach_disk", [vm, second]);
    await cloud.result("detach_disk", [vm, disk]);
    expectEqual(await disksOf(cloud, vm), [second], "get_disks");
  },
  "CPI-DISK-010": async (cloud) => {
    const { vm, disk } = await attached(cloud);
    await cloud.result("detach_disk", [vm, disk]);
    await cloud.refusal("detach_disk", [vm, disk], "Bosh::Clouds::DiskNotAttached");
  },
  "CPI-DISK-011": async (cloud) => cloud.doneOr(DISK_NOT_FOUND, "detach_disk", [await cloud.vm(), NOBODY]),
  "CPI-DISK-012": async (cloud) => {
    const disk = await cloud.newDisk();
    for (const size of [larger(cloud), larger(cloud)]) await cloud.result("resize_disk", [disk, size]);
    await cloud.refusal("resize_disk", [disk, cloud.diskSize], "Bosh::Clouds::NotSupported");
  },
  "CPI-DISK-013": async (cloud) => {
    const { vm, disk, hint } = await attached(cloud);
    const { error } = await cloud.ask("resize_disk", [disk, larger(cloud)]);
    if (error?.type === "Bosh::Clouds::NotImplemented") throw new CannotTell("the CPI has no resize_disk");
    expectEqual(await cloud.result("attach_disk", [vm, disk]), hint, "the hint");
  },
  "CPI-DISK-014": async (cloud) => {
    const disk = await cloud.newDisk();
    const now =
      (await cloud.result<string | null>("update_disk", [
        disk,
        larger(cloud),
        cloud.given.diskProperties ?? {},
      ])) ?? disk;
    cloud.remember("delete_disk", now);
    expectEqual(await has(cloud, now), true, "has_disk");
  },
  "CPI-SNAPSHOT-001": async (cloud) => {
    const { vm, disk } = await attached(cloud);
    const snapshots: string[] = [];
    const take = async () =>
      snapshots.push(cloud.remember("delete_snapshot", await cloud.result("snapshot_disk", [disk, {}])));
    await take();
    await cloud.result("detach_disk", [vm, disk]);
    await take();
    expectEqual(new Set(snapshots).size, 2, "different snapshots");
    for (const cid of [...snapshots, ...snapshots]) await cloud.result("delete_snapshot", [cid]);
  },
  "CPI-DISK-015": async (cloud) => {
    const disk = await cloud.newDisk();
    await cloud.result("delete_disk", [disk]);
    for (const cid of [disk, NOBODY]) await cloud.doneOr(DISK_NOT_FOUND, "delete_disk", [cid]);
  },
  "CPI-DISK-016": async (cloud) => {
    const { vm, disk, hint } = await attached(cloud);
    await cloud.refusal("delete_disk", [disk]);
    expectEqual(await has(cloud, disk), true, "has_disk");
    expectEqual(await cloud.result("attach_disk", [vm, disk]), hint, "the hint");
  },
};
