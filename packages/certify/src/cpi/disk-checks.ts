import { parseAttachDiskResult } from "@slipway/protocol/cpi/attach-disk-result";
import type { DiskCid } from "@slipway/protocol/ids";
import { CannotTell, expectEqual, expectTrue } from "../expect.ts";
import type { CpiCheck } from "./check.ts";
import type { ResourceTracker } from "./resource-tracker.ts";

const DISK_NOT_FOUND = "Bosh::Clouds::DiskNotFound";
const CLOUD_ERROR = "Bosh::Clouds::CloudError";
const NOBODY = "disk-nobody-has";

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
export const DISK_CHECKS: readonly CpiCheck[] = [
  {
    number: 36,
    name: "delete_vm leaves an attached disk whole, for another VM",
    run: async (cloud) => {
      const { vm, disk } = await attached(cloud, await cloud.newVm());
      await cloud.result("delete_vm", [vm]);
      expectEqual(await has(cloud, disk), true, "has_disk");
      await cloud.result("attach_disk", [await cloud.vm(), disk]);
    },
  },
  {
    number: 41,
    name: "create_disk answers a cid for sizes that are no round numbers",
    run: async (cloud) => {
      for (const size of [64, 65]) {
        const cid = await cloud.newDisk(size);
        expectTrue(typeof cid === "string" && cid !== "", `the cid is ${JSON.stringify(cid)}`);
      }
    },
  },
  {
    number: 43,
    name: "has_disk is true from create_disk to delete_disk, and false for others",
    run: async (cloud) => {
      const disk = await cloud.newDisk();
      expectEqual(await has(cloud, disk), true, "has_disk of one that is there");
      await cloud.result("delete_disk", [disk]);
      for (const cid of [disk, NOBODY, "../etc", "-rf", "a b"])
        expectEqual(await has(cloud, cid), false, `has_disk of ${cid}`);
    },
  },
  {
    number: 44,
    name: "attach_disk answers a hint that an agent can read",
    run: async (cloud) => {
      const { disk, hint } = await attached(cloud);
      const parsed = parseAttachDiskResult(hint, { apiVersion: 2, diskCid: disk as DiskCid });
      expectTrue(parsed.ok, `the hint is ${JSON.stringify(hint)}`);
    },
  },
  {
    number: 45,
    name: "attach_disk again answers the same",
    run: async (cloud) => {
      const { vm, disk, hint } = await attached(cloud);
      expectEqual(await cloud.result("attach_disk", [vm, disk]), hint, "the hint");
      expectEqual(await disksOf(cloud, vm), [disk], "get_disks");
    },
  },
  {
    number: 47,
    name: "a second disk has a hint of its own, and the first keeps its",
    run: async (cloud) => {
      const { vm, disk, hint } = await attached(cloud);
      const second = await cloud.newDisk();
      const other = await cloud.result("attach_disk", [vm, second]);
      expectTrue(JSON.stringify(other) !== JSON.stringify(hint), `both are ${JSON.stringify(hint)}`);
      expectEqual(await cloud.result("attach_disk", [vm, disk]), hint, "the first hint");
      expectEqual((await disksOf(cloud, vm)).sort(), [disk, second].sort(), "get_disks");
    },
  },
  {
    number: 48,
    name: "attach_disk of a disk or to a VM that is not there is refused, and changes nothing",
    run: async (cloud) => {
      const [vm, disk] = [await cloud.vm(), await cloud.newDisk()];
      await cloud.refusal("attach_disk", [vm, NOBODY], DISK_NOT_FOUND, CLOUD_ERROR);
      await cloud.refusal("attach_disk", ["vm-nobody-has", disk], "Bosh::Clouds::VMNotFound", CLOUD_ERROR);
      expectEqual(await disksOf(cloud, vm), [], "get_disks");
      await cloud.result("attach_disk", [vm, disk]);
    },
  },
  {
    number: 50,
    name: "a disk that another VM has is not given away",
    run: async (cloud) => {
      const { vm, disk } = await attached(cloud);
      const other = await cloud.newVm();
      await cloud.refusal("attach_disk", [other, disk]);
      expectEqual(await disksOf(cloud, vm), [disk], "get_disks of the one");
      expectEqual(await disksOf(cloud, other), [], "get_disks of the other");
    },
  },
  {
    number: 51,
    name: "detach_disk takes the one disk, and keeps the others",
    run: async (cloud) => {
      const { vm, disk } = await attached(cloud);
      const second = await cloud.newDisk();
      await cloud.result("attach_disk", [vm, second]);
      await cloud.result("detach_disk", [vm, disk]);
      expectEqual(await disksOf(cloud, vm), [second], "get_disks");
    },
  },
  {
    number: 52,
    name: "detach_disk of a disk that is not attached says so",
    run: async (cloud) => {
      const { vm, disk } = await attached(cloud);
      await cloud.result("detach_disk", [vm, disk]);
      await cloud.refusal("detach_disk", [vm, disk], "Bosh::Clouds::DiskNotAttached");
    },
  },
  {
    number: 53,
    name: "detach_disk of a disk that is gone is done, or says so",
    run: async (cloud) => cloud.doneOr(DISK_NOT_FOUND, "detach_disk", [await cloud.vm(), NOBODY]),
  },
  {
    number: 54,
    name: "a disk grows, stays as it is, and does not shrink",
    run: async (cloud) => {
      const disk = await cloud.newDisk(64);
      for (const size of [96, 96]) await cloud.result("resize_disk", [disk, size]);
      await cloud.refusal("resize_disk", [disk, 64], "Bosh::Clouds::NotSupported");
    },
  },
  {
    number: 55,
    name: "resize_disk of an attached disk grows it or refuses; the disk stays usable",
    run: async (cloud) => {
      const { vm, disk, hint } = await attached(cloud);
      const { error } = await cloud.ask("resize_disk", [disk, 96]);
      if (error?.type === "Bosh::Clouds::NotImplemented") throw new CannotTell("the CPI has no resize_disk");
      expectEqual(await cloud.result("attach_disk", [vm, disk]), hint, "the hint");
    },
  },
  {
    number: 56,
    name: "update_disk answers a disk that is there",
    run: async (cloud) => {
      const disk = await cloud.newDisk();
      const now = (await cloud.result<string | null>("update_disk", [disk, 96, {}])) ?? disk;
      cloud.remember("delete_disk", now);
      expectEqual(await has(cloud, now), true, "has_disk");
    },
  },
  {
    number: 57,
    name: "a disk is copied as a snapshot, attached or not; a snapshot is deleted twice",
    run: async (cloud) => {
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
  },
  {
    number: 59,
    name: "a disk can be deleted twice, and one that never was",
    run: async (cloud) => {
      const disk = await cloud.newDisk();
      await cloud.result("delete_disk", [disk]);
      for (const cid of [disk, NOBODY]) await cloud.doneOr(DISK_NOT_FOUND, "delete_disk", [cid]);
    },
  },
  {
    number: 60,
    name: "a disk that a VM has is not deleted",
    run: async (cloud) => {
      const { vm, disk, hint } = await attached(cloud);
      await cloud.refusal("delete_disk", [disk]);
      expectEqual(await has(cloud, disk), true, "has_disk");
      expectEqual(await cloud.result("attach_disk", [vm, disk]), hint, "the hint");
    },
  },
];
