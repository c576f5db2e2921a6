import { readFileSync } from "node:fs";
import { bundled } from "@slipway/testkit/bundle";
import { AGENT, errorOf, NETWORKS, resultOf, vmArgs } from "@slipway/testkit/requests";
import { chosen, sampleOf } from "@slipway/testkit/sample";
import { describe, expect, it } from "vitest";
import { AGES, newDisk, newVm, type TinyCloud, tinyCloud } from "./testing/tiny-cloud.ts";

const script = bundled("main.ts", import.meta.url);
const MIB = 1024 * 1024;

describe("the tiny CPI", () => {
  it("is shorter than 120 lines", () => {
    const text = readFileSync(new URL("tiny-cpi.ts", import.meta.url), "utf8");
    expect(text.trimEnd().split("\n").length).toBeLessThan(120);
  });

  it("says what it is before anything is configured", async () => {
    const cloud = await tinyCloud(script(), { version: undefined, stemcell: undefined });
    expect(await cloud.result("info")).toEqual({
      stemcell_formats: ["tiny-tar", "general-tar"],
      api_version: 3,
      capabilities: { repeats_by_request_id: true },
    });
  });
});

/**
 * Plays it with everything old, in the registry's world, and with everything new. `npm test` plays every second of these,
 * with one of the two ages, as the run's seed chooses: every call is a process.
 */
const plays = (name: string, play: (cloud: TinyCloud, old: boolean) => Promise<void>) =>
  it.runIf(chosen(`tiny: ${name}`, 1 / 4))(name, async () => {
    await Promise.all(
      sampleOf(`age of ${name}`, AGES, 1).map(async ([age, asked]) => {
        const cloud = await tinyCloud(script(), asked);
        await play(cloud, age === "old").catch((cause: unknown) => {
          throw new Error(`with everything ${age}`, { cause });
        });
      }),
    );
  });

describe("with everything old, and with everything new,", () => {
  plays("stemcells are made, and deleted twice without complaint", async (cloud) => {
    const cid = await cloud.result("create_stemcell", cloud.image, { name: "s" });
    expect(await cloud.list("stemcells")).toEqual([cid]);
    expect(await cloud.result("delete_stemcell", cid)).toBeNull();
    expect(await cloud.result("delete_stemcell", cid)).toBeNull();
    expect(await cloud.list("stemcells")).toEqual([]);
  });

  plays(
    "a VM comes in the shape of its version, whatever disks are announced, and none is attached",
    async (cloud, old) => {
      const disk = await newDisk(cloud);
      const stemcell = await cloud.result("create_stemcell", cloud.image, {});
      for (const disks of [[], null, [disk]]) {
        const made = await cloud.result("create_vm", ...vmArgs().with(1, stemcell).with(4, disks));
        if (old) expect(made).toMatch(/^vm-/);
        else expect(made).toEqual([expect.stringMatching(/^vm-/), NETWORKS]);
        expect(await cloud.result("get_disks", old ? made : (made as [string])[0])).toEqual([]);
      }
      expect(await cloud.list("vms")).toHaveLength(3);
    },
  );

  plays(
    "the agent of a VM finds its settings: in the registry or in its user-data, not in both",
    async (cloud, old) => {
      const vm = await newVm(cloud);
      const settings = {
        agent_id: AGENT,
        vm: { name: vm },
        networks: NETWORKS,
        disks: { system: "/dev/sda", persistent: {} },
        env: {},
      };
      const userData = await cloud.settingsOf(vm);
      if (old)
        expect(userData).toMatchObject({ server: { name: vm }, registry: { endpoint: expect.any(String) } });
      else expect(userData).toEqual(settings);
      expect(cloud.registry.seen).toEqual(old ? [`PUT ${vm}`] : []);
      expect(await cloud.registry.entry(vm)).toEqual(old ? settings : undefined);
    },
  );

  plays("a VM is there until it is deleted; deleting it again is VMNotFound", async (cloud, old) => {
    const vm = await newVm(cloud);
    expect(await cloud.result("has_vm", vm)).toBe(true);
    expect(await cloud.result("has_vm", "vm-random")).toBe(false);
    cloud.registry.forget();
    expect(await cloud.result("delete_vm", vm)).toBeNull();
    expect(cloud.registry.seen).toEqual(old ? [`DELETE ${vm}`] : []);
    expect(await cloud.result("has_vm", vm)).toBe(false);
    expect(await cloud.errorType("delete_vm", vm)).toBe("VMNotFound");
    expect(await cloud.list("vms")).toEqual([]);
  });

  plays("a VM of an unknown stemcell is refused and leaves nothing", async (cloud) => {
    expect(await cloud.errorType("create_vm", ...vmArgs().with(1, "stemcell-random"))).toBe("CloudError");
    expect(await cloud.list("vms")).toEqual([]);
    expect(cloud.registry.seen).toEqual([]);
  });

  plays("a VM can be tagged, again and again, and not when it is gone", async (cloud) => {
    const vm = await newVm(cloud);
    for (const name of ["node/0", "node/1", "n".repeat(10_000), "é\n\u0000"]) {
      expect(await cloud.result("set_vm_metadata", vm, { name, index: "0", tags: {} })).toBeNull();
    }
    expect(await cloud.errorType("set_vm_metadata", "vm-random", {})).toBe("VMNotFound");
  });

  plays("disks are as large as asked, with or without a VM in mind", async (cloud) => {
    for (const [size, vm] of [
      [1, null],
      [1024, null],
      [1025, "vm-random"],
    ] as const) {
      const disk = (await cloud.result("create_disk", size, {}, vm)) as string;
      expect(await cloud.sizeOf(disk)).toBe(size * MIB);
      expect(await cloud.result("has_disk", disk)).toBe(true);
    }
    expect(await cloud.result("has_disk", "disk-random")).toBe(false);
    expect(await cloud.list("disks")).toHaveLength(3);
  });

  plays("a disk that cannot be made, or is asked for wrongly, leaves nothing", async (cloud) => {
    expect(await cloud.errorType("create_disk", Number.MAX_SAFE_INTEGER, {}, null)).toBe("CloudError");
    expect(await cloud.errorType("create_disk", 64)).toBe("CpiError");
    expect(await cloud.errorType("create_disk", 0, {}, null)).toBe("CpiError");
    expect(await cloud.list("disks")).toEqual([]);
  });

  plays("disks are attached with hints of their own, the same at every repeat", async (cloud, old) => {
    const vm = await newVm(cloud);
    const [first, second] = [await newDisk(cloud), await newDisk(cloud)];
    const hints = { [first]: { id: first }, [second]: { id: second } };
    for (const disk of [first, second, first]) {
      expect(await cloud.result("attach_disk", vm, disk)).toEqual(old ? null : hints[disk]);
    }
    expect(((await cloud.result("get_disks", vm)) as string[]).sort()).toEqual([first, second].sort());
    if (old) expect((await cloud.registry.entry(vm))?.disks.persistent).toEqual(hints);
    else expect(cloud.registry.seen).toEqual([]);

    expect(await cloud.result("detach_disk", vm, first)).toBeNull();
    expect(await cloud.result("get_disks", vm)).toEqual([second]);
    if (old) expect((await cloud.registry.entry(vm))?.disks.persistent).toEqual({ [second]: hints[second] });
    expect(await cloud.errorType("detach_disk", vm, first)).toBe("DiskNotAttached");
  });

  plays("what is not there cannot be attached or detached, and no entry changes", async (cloud) => {
    const vm = await newVm(cloud);
    const disk = await newDisk(cloud);
    cloud.registry.forget();
    expect(await cloud.errorType("attach_disk", vm, "disk-random")).toBe("DiskNotFound");
    expect(await cloud.errorType("attach_disk", "vm-random", disk)).toBe("VMNotFound");
    expect(await cloud.errorType("attach_disk", vm, disk, {})).toBe("CpiError");
    expect(cloud.registry.seen).toEqual([]);
    await cloud.result("attach_disk", vm, disk);
    await cloud.result("detach_disk", vm, disk);
    await cloud.result("delete_disk", disk);
    expect(await cloud.errorType("detach_disk", vm, disk)).toBe("DiskNotFound");
    expect(await cloud.errorType("get_disks", "vm-random")).toBe("VMNotFound");
  });

  plays("a disk is on one VM at a time, and outlives it", async (cloud) => {
    const [one, other] = [await newVm(cloud), await newVm(cloud)];
    const disk = await newDisk(cloud);
    await cloud.result("attach_disk", one, disk);
    expect(await cloud.errorType("attach_disk", other, disk)).toBe("CloudError");
    expect(await cloud.errorType("delete_disk", disk)).toBe("CloudError");
    expect(await cloud.errorType("resize_disk", disk, 128)).toBe("CloudError");
    expect(await cloud.sizeOf(disk)).toBe(64 * MIB);
    await cloud.result("delete_vm", one);
    expect(await cloud.result("has_disk", disk)).toBe(true);
    await cloud.result("attach_disk", other, disk);
    expect(await cloud.result("get_disks", other)).toEqual([disk]);
  });

  plays("a disk grows, stays as it is, and does not shrink", async (cloud) => {
    const disk = await newDisk(cloud);
    expect(await cloud.result("resize_disk", disk, 128)).toBeNull();
    expect(await cloud.result("resize_disk", disk, 128)).toBeNull();
    expect(await cloud.errorType("resize_disk", disk, 127)).toBe("NotSupported");
    expect(await cloud.sizeOf(disk)).toBe(128 * MIB);
    expect(await cloud.errorType("resize_disk", "disk-random", 128)).toBe("DiskNotFound");
  });

  plays(
    "snapshots are taken of disks on and off a VM, and deleted twice without complaint",
    async (cloud) => {
      const disk = await newDisk(cloud, 1);
      const off = await cloud.result("snapshot_disk", disk, {});
      await cloud.result("attach_disk", await newVm(cloud), disk);
      const on = await cloud.result("snapshot_disk", disk, { deployment: "d", index: 0 });
      expect(await cloud.list("snapshots")).toEqual([off, on].sort());
      for (const cid of [off, off, on]) expect(await cloud.result("delete_snapshot", cid)).toBeNull();
      expect(await cloud.list("snapshots")).toEqual([]);
      expect(await cloud.errorType("snapshot_disk", "disk-random", {})).toBe("DiskNotFound");
    },
  );

  plays("a deleted disk is gone; deleting it again is DiskNotFound", async (cloud) => {
    const disk = await newDisk(cloud);
    expect(await cloud.result("delete_disk", disk)).toBeNull();
    expect(await cloud.result("has_disk", disk)).toBe(false);
    expect(await cloud.errorType("delete_disk", disk)).toBe("DiskNotFound");
  });

  plays("what it does not do is NotImplemented", async (cloud) => {
    expect(await cloud.errorType("reboot_vm", "vm-1")).toBe("NotImplemented");
    expect(await cloud.errorType("set_disk_metadata", "disk-1", {})).toBe("NotImplemented");
    expect(await cloud.errorType("configure_networks", "vm-1", {})).toBe("NotSupported");
  });
});

describe("asked by callers between the ages", () => {
  it("a new Director with an old stemcell gets the hint that the registry has", async () => {
    const cloud = await tinyCloud(script(), { version: 2, stemcell: 1 });
    const vm = await newVm(cloud);
    const disk = await newDisk(cloud);
    const hint = await cloud.result("attach_disk", vm, disk);
    expect((await cloud.registry.entry(vm))?.disks.persistent).toEqual({ [disk]: hint });
  });

  it("version 3 sends tags with a stemcell, version 2 must not", async () => {
    const cloud = await tinyCloud(script(), { version: 3 });
    const args = [cloud.image, {}, { tags: { team: "a" } }];
    expect(resultOf(await cloud.call("create_stemcell", args))).toMatch(/^stemcell-/);
    expect(errorOf(await cloud.call("create_stemcell", args, { version: 2 })).message).toContain("takes 2");
  });

  it("a repeat under the same id makes nothing new", async () => {
    const cloud = await tinyCloud(script(), { requestId: "cpi-482913" });
    expect(await newVm(cloud)).toBe(await newVm(cloud));
    expect(await newDisk(cloud)).toBe(await newDisk(cloud));
    expect(
      [await cloud.list("vms"), await cloud.list("disks"), await cloud.list("stemcells")].map(
        (all) => all.length,
      ),
    ).toEqual([1, 1, 1]);
  });
});
