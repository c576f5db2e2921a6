import { expect, it } from "vitest";
import type { CpiUnderTest } from "./cpi-under-test.ts";
import type { SmallDisk } from "./small-disk.ts";

/** A cloud whose disks are files on a small file system, and a running VM of it. */
export interface FullHost {
  readonly cloud: Pick<CpiUnderTest, "result" | "refusal">;
  readonly small: SmallDisk;
  /** Gives back what it was filled with. */
  freed(): Promise<void>;
  /** Size and allocated space of the disk's file, in bytes. */
  stat(disk: string): Promise<{ readonly size: number; readonly space: number }>;
  /** The names of what there is. */
  all(kind: "disks" | "snapshots"): Promise<readonly string[]>;
  /** Returns the path at which the VM has the disk. */
  mounted(disk: string): Promise<string>;
  unmounted(disk: string): Promise<void>;
  inside(script: string): Promise<string>;
}

const MIB = 1 << 20;

/** Tests that a disk has its space or is refused. `says`: how much there is; `empty`: what a thin disk has at most, in MiB. */
export function testDiskSpace(
  host: () => FullHost,
  { says, empty }: { readonly says: RegExp; readonly empty: number },
): void {
  const newDisk = (mib: number, properties: object = {}) =>
    host().cloud.result<string>("create_disk", [mib, properties, null]);

  it("a disk for which there is no space is refused, a thin one is not, and nothing is left", async () => {
    const { cloud, all, stat } = host();
    const refusal = await cloud.refusal("create_disk", [1000, {}, null]);
    expect(refusal).toContain("Bosh::Clouds::NoDiskSpace");
    expect(refusal).toMatch(says);
    expect(await all("disks")).toEqual([]);
    const thin = await newDisk(1000, { provisioning: "thin" });
    expect((await stat(thin)).space).toBeLessThan(empty * MIB);
    const snapshot = await cloud.result<string>("snapshot_disk", [thin, {}]);
    await cloud.result("delete_snapshot", [snapshot]);
    await cloud.result("delete_disk", [thin]);
  });

  it("a disk grows with its space, or stays as it was", async () => {
    const { cloud, stat } = host();
    const disk = await newDisk(32);
    expect(await cloud.refusal("resize_disk", [disk, 2000])).toContain("NoDiskSpace");
    expect((await stat(disk)).size).toBe(32 * MIB);
    expect((await stat(disk)).space).toBeLessThan(33 * MIB);
    await cloud.result("resize_disk", [disk, 64]);
    expect((await stat(disk)).space).toBeGreaterThanOrEqual(64 * MIB);
    await cloud.result("delete_disk", [disk]);
  });

  it("a thin disk gets its space when it is to be preallocated, if there is any", async () => {
    const { cloud, small, freed, stat } = host();
    const disk = await newDisk(64, { provisioning: "thin" });
    const wanted = { provisioning: "preallocated" };
    await small.fill("all", 4 * MIB);
    expect(await cloud.refusal("update_disk", [disk, 64, wanted])).toContain("NoDiskSpace");
    expect((await stat(disk)).space).toBeLessThan(32 * MIB);
    await freed();
    await cloud.result("update_disk", [disk, 64, wanted]);
    expect((await stat(disk)).space).toBeGreaterThanOrEqual(64 * MIB);
    await cloud.result("delete_disk", [disk]);
  });

  it("a snapshot for which there is no space is refused, and leaves nothing", async () => {
    const { cloud, small, all, mounted, unmounted, inside } = host();
    const disk = await newDisk(64);
    const at = await mounted(disk);
    await inside(`cd ${at} && dd if=/dev/urandom of=file bs=1M count=20 conv=fsync 2>/dev/null && sync -f .`);
    await small.fill("all", 4 * MIB);
    expect(await cloud.refusal("snapshot_disk", [disk, {}])).toContain("NoDiskSpace");
    expect(await all("snapshots")).toEqual([]);
    expect((await inside(`echo on > ${at}/file && cat ${at}/file`)).trim()).toBe("on");
    await unmounted(disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("properties that make no sense are refused", async () => {
    expect(await host().cloud.refusal("create_disk", [8, { provisioning: "thick" }, null])).toContain(
      "provisioning must be preallocated or thin",
    );
  });
}
