import { renameSync, symlinkSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { LinuxConfig } from "@slipway/protocol/agent/agent-config";
import { parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeMachine } from "../../testing/fake-machine.ts";
import { diskSettings } from "../../testing/loop-lab.ts";

describe("finding the device of a disk", () => {
  let machine: FakeMachine;
  beforeEach(async () => {
    machine = await FakeMachine.open();
  });
  afterEach(() => machine.close());

  async function locate(config: LinuxConfig, cid: string, wire: unknown, ms = 1000): Promise<string> {
    const parsed = parseDiskHint(wire);
    if (!parsed.ok) throw new Error(parsed.problem);
    const device = await machine
      .platform(config)
      .locate(diskSettings(cid, parsed.hint), machine.deadline(ms));
    return device.replace(machine.root, "");
  }
  const CID = "disk-0123456789abcde";
  const virtio: LinuxConfig = { DevicePathResolutionType: "virtio" };
  const scsi: LinuxConfig = { DevicePathResolutionType: "scsi" };
  const page80 = (serial: string) =>
    Buffer.concat([Buffer.from([0, 0x80, 0, serial.length]), Buffer.from(serial)]);
  const page83 = (...designators: Buffer[]) => Buffer.concat([Buffer.from([0, 0x83, 0, 0]), ...designators]);
  const designator = (set: number, association: number, body: Buffer) =>
    Buffer.concat([Buffer.from([set, (association << 4) | 3, 0, body.length]), body]);

  describe("by what names the disk itself", () => {
    it("finds a virtio disk by its serial number, though the hint's path leads elsewhere", async () => {
      await machine.disk("vdb", "254:16");
      await machine.disk("vdc", "254:32", { serial: `${CID}\n` });
      expect(await locate(virtio, CID, "/dev/sdb")).toBe("/dev/vdc");
    });

    it.each([
      ["page 0x80", { "device/vpd_pg80": page80(CID) }],
      ["page 0x83", { "device/vpd_pg83": page83(designator(2, 0, Buffer.from(CID))) }],
    ])("finds a SCSI disk by SCSI %s", async (_, attributes) => {
      await machine.disk("sdb", "8:16", { "device/vpd_pg80": page80("other") });
      await machine.disk("sdc", "8:32", attributes);
      expect(await locate(scsi, CID, { volume_id: "1" })).toBe("/dev/sdc");
    });

    it("finds an NVMe disk whose serial number is the cid without its dash", async () => {
      await machine.disk("nvme1n1", "259:1", { "device/serial": "vol0a1b2c3d4e5f6\n" });
      expect(await locate(virtio, "vol-0a1b2c3d4e5f6", "/dev/sdf")).toBe("/dev/nvme1n1");
    });

    it.each([
      ["the wwid", { "device/wwid": "naa.6000c29a1b2c3d4e5f60718293a4b5c6\n" }],
      [
        "a binary designator",
        {
          "device/vpd_pg83": page83(designator(1, 0, Buffer.from("6000c29a1b2c3d4e5f60718293a4b5c6", "hex"))),
        },
      ],
    ])("finds a disk by a UUID in the hint that is %s", async (_, attributes) => {
      await machine.disk("sdc", "8:32", attributes);
      expect(await locate(scsi, "any", { id: "6000C29a-1b2c-3d4e-5f60-718293a4b5c6" })).toBe("/dev/sdc");
    });

    it("does not take a designator of the port for one of the disk", async () => {
      await machine.disk("sdc", "8:32", { "device/vpd_pg83": page83(designator(2, 1, Buffer.from(CID))) });
      await expect(locate(scsi, CID, { volume_id: "1" })).rejects.toMatchObject({ code: "AGD-001" });
    });

    it("finds a disk by the link udev made", async () => {
      await machine.disk("sdd", "8:48");
      await machine.link(`dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_${CID}`, "dev/sdd");
      await machine.link(`dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_${CID}-part1`, "dev/sdd");
      await machine.link(`dev/disk/by-id/scsi-SQEMU_${CID}`, "dev/sdd");
      expect(await locate(virtio, CID, "/dev/sdf")).toBe("/dev/sdd");
    });

    it("believes a short cid only as a whole word of a link", async () => {
      await machine.disk("sdd", "8:48");
      await machine.link("dev/disk/by-id/virtio-mydisk-11", "dev/sdd");
      await expect(locate(virtio, "1", "/dev/sdf")).rejects.toMatchObject({ code: "AGD-001" });
      expect(await locate(virtio, "11", "/dev/sdf")).toBe("/dev/sdd");
    });

    it("uses upstream's pattern for links, exactly", async () => {
      await machine.disk("nvme2n1", "259:4");
      await machine.link("dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0a1b", "dev/nvme2n1");
      const config: LinuxConfig = {
        ...virtio,
        DiskIDTransformPattern: "^vol-(.+)$",
        // Go writes ${1}.
        DiskIDTransformReplacement: `nvme-Amazon_Elastic_Block_Store_vol$${"{1}"}`,
      };
      expect(await locate(config, "vol-0a1b", "/dev/sdf")).toBe("/dev/nvme2n1");
    });

    it("refuses to choose between two disks with the same serial number", async () => {
      await machine.disk("vdb", "254:16", { serial: CID });
      await machine.disk("vdc", "254:32", { serial: CID });
      await expect(locate(virtio, CID, "/dev/sdb")).rejects.toMatchObject({ code: "AGD-002" });
    });

    it("uses the joined device when the two are ways to one disk", async () => {
      await machine.disk("sdb", "8:16", { "device/wwid": "naa.6000", "holders/dm-3/x": "" });
      await machine.disk("sdc", "8:32", { "device/wwid": "naa.6000", "holders/dm-3/x": "" });
      await machine.disk("dm-3", "253:3", { "dm/name": "mpatha\n", "dm/uuid": "mpath-36000\n" });
      await machine.node("dev/mapper/mpatha", "253:3");
      expect(await locate(scsi, "any", { id: "6000" })).toBe("/dev/mapper/mpatha");
    });

    it("does not fall back to the path when the hint says which disk it must be", async () => {
      await machine.disk("sdc", "8:32", { serial: "another" });
      const hint = { path: "/dev/sdc", serial: "mine" };
      await expect(locate(virtio, "any", hint)).rejects.toThrow(/for mine \(there are sdc=another\)/);
    });

    it("does not take a serial number that virtio cut for proof, and says so", async () => {
      await machine.disk("vdb", "254:16", { serial: "disk-0123456789abcde" });
      const long = "disk-0123456789abcdef-other";
      await expect(locate(virtio, long, "/dev/sdx")).rejects.toThrow(/cut to 20 characters, as virtio does/);
    });
  });

  describe("by what names its place", () => {
    it.each([
      ["/dev/xvdf", "202:80"],
      ["/dev/vdf", "254:80"],
      ["/dev/sdf", "8:80"],
    ])("maps /dev/sdf to %s when that is what the driver calls it", async (path, number) => {
      await machine.disk(path.slice(5), number);
      expect(await locate(virtio, "d", "/dev/sdf")).toBe(path);
    });

    it("takes a path as it is without a resolution type, and follows links", async () => {
      await machine.disk("vdf", "254:80");
      await expect(locate({}, "d", "/dev/sdf")).rejects.toThrow("/dev/sdf is no block device");
      await machine.link("dev/mydisk", "dev/vdf");
      expect(await locate({}, "d", { path: "/dev/mydisk" })).toBe("/dev/vdf");
    });

    it("does not take a path whose device number is not the hint's", async () => {
      await machine.disk("loop3", "7:3");
      const hint = { path: "/dev/loop3", dev: "7:9" };
      await expect(locate({}, "d", hint)).rejects.toThrow("/dev/loop3 is device 7:3, the hint says 7:9");
    });

    it("finds a SCSI target on the adapter of the system disk, asking adapters to look", async () => {
      await machine.disk("sda", "8:0", {}, "pci0/host2/2:0:0:0");
      await machine.link("sys/bus/scsi/devices/2:0:0:0", "sys/devices/pci0/host2/2:0:0:0");
      await machine.file("sys/class/scsi_host/host2/scan", "");
      await machine.disk("sdc", "8:32", {}, "pci0/host2/2:0:3:0");
      // At once: the clock does not wait for files.
      const late = machine.clock.after(300, () =>
        symlinkSync(machine.at("sys/devices/pci0/host2/2:0:3:0"), machine.at("sys/bus/scsi/devices/2:0:3:0")),
      );
      expect(await locate(scsi, "d", "3")).toBe("/dev/sdc");
      late();
      expect(await readFile(machine.at("sys/class/scsi_host/host2/scan"), "utf8")).toBe("- - -");
    });

    it("finds a SCSI address", async () => {
      await machine.disk("sdc", "8:32", {}, "pci0/host2/2:1:3:4");
      await machine.link("sys/bus/scsi/devices/2:1:3:4", "sys/devices/pci0/host2/2:1:3:4");
      expect(await locate({}, "d", { scsi_address: "2:1:3:4" })).toBe("/dev/sdc");
    });

    it("finds a LUN below the vmbus device of the hint, not the same LUN below another", async () => {
      for (const [host, disk, number, id] of [
        ["vmbus-1", "sdc", "8:32", "{f8b3781a-0000}"],
        ["vmbus-2", "sdd", "8:48", "{f8b3781b-1111}"],
      ] as const) {
        const place = `LNXSYSTM:00/${host}/host3/${disk === "sdc" ? 3 : 5}:0:0:1`;
        await machine.disk(disk, number, {}, place);
        await machine.file(`sys/devices/LNXSYSTM:00/${host}/device_id`, `${id}\n`);
        await machine.link(`sys/bus/vmbus/devices/${host}`, `sys/devices/LNXSYSTM:00/${host}`);
        await machine.link(`sys/bus/scsi/devices/${disk === "sdc" ? 3 : 5}:0:0:1`, `sys/devices/${place}`);
      }
      const hint = { lun: "1", host_device_id: "{F8B3781B-1111}", path: "/dev/sdc" };
      expect(await locate(scsi, "d", hint)).toBe("/dev/sdd");
    });

    it("follows the stemcell's link for a LUN", async () => {
      await machine.disk("sdd", "8:48");
      await machine.link("dev/disk/azure/data/by-lun/1", "dev/sdd");
      const config = { ...scsi, LunDeviceSymlinkPath: "/dev/disk/azure/data/by-lun" };
      expect(await locate(config, "d", { lun: "1" })).toBe("/dev/sdd");
      await expect(locate(config, "d", { lun: "../1" })).rejects.toThrow("the LUN is not a number");
    });
  });

  describe("waiting", () => {
    it("takes a device that appears late", async () => {
      await machine.disk("vdb", "254:16", { serial: CID });
      // At once: made piece by piece, it would race with a clock that does not wait for files.
      const [shown, hidden] = [machine.at("sys/block/vdb"), machine.at("hidden")];
      renameSync(shown, hidden);
      machine.clock.after(5000, () => renameSync(hidden, shown));
      expect(await locate(virtio, CID, "/dev/sdz", 60_000)).toBe("/dev/vdb");
      expect(machine.clock.slept.length).toBeLessThan(20);
    });

    it("gives up at the deadline and says all that it tried and saw", async () => {
      await machine.disk("vda", "254:0", { serial: "root" });
      const work = locate(virtio, CID, "/dev/sdf", 30_000);
      await expect(work).rejects.toMatchObject({ code: "AGD-001", kind: "outside" });
      const { message } = (await work.catch((error: unknown) => error)) as Error;
      for (const part of [
        "after 30",
        `/dev/disk/by-id/*${CID}`,
        "vda=root",
        "/dev/xvdf is no block device",
      ]) {
        expect(message).toContain(part);
      }
    });
  });

  describe("by iSCSI", () => {
    const iscsi: LinuxConfig = { DevicePathResolutionType: "iscsi" };
    const PASSWORD = "canary-password";
    const settings = { initiator_name: "iqn.2024:me", username: "u", target: "10.0.0.9", password: PASSWORD };
    const disk = async (name: string, number: string, address: string) => {
      await machine.disk(name, number, {}, `platform/host7/session1/target/${address}`);
      await machine.link(
        `sys/bus/scsi/devices/${address}`,
        `sys/devices/platform/host7/session1/target/${address}`,
      );
    };
    beforeEach(async () => {
      await machine.disk("sda", "8:0", {}, "pci0/host2/2:0:0:0");
      await machine.link("sys/bus/scsi/devices/2:0:0:0", "sys/devices/pci0/host2/2:0:0:0");
      machine.programs.set("iscsiadm", async (args) => {
        if (!args.includes("--login")) return {};
        await machine.file("sys/class/iscsi_connection/connection1:0/persistent_address", "10.0.0.9\n");
        await disk("sdb", "8:16", "7:0:0:0");
        await machine.link("sys/class/iscsi_session/session1/device", "sys/devices/platform/host7/session1");
        return {};
      });
    });

    it("logs in once and takes the disk of that session, with no secret in a command or a log line", async () => {
      expect(await locate(iscsi, "d", { iscsi_settings: settings })).toBe("/dev/sdb");
      expect(await locate(iscsi, "d", { iscsi_settings: settings })).toBe("/dev/sdb");
      expect(machine.commands).toEqual([
        "systemctl restart iscsid",
        "iscsiadm -m discovery -t sendtargets -p 10.0.0.9",
        "iscsiadm -m node -p 10.0.0.9 --login",
        "iscsiadm -m session --rescan",
      ]);
      const file = machine.at("etc/iscsi/iscsid.conf");
      expect(await readFile(file, "utf8")).toContain(`node.session.auth.password = ${PASSWORD}\n`);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect([...machine.commands, ...machine.log.lines].join("\n")).not.toContain(PASSWORD);
    });

    it("refuses to choose between two disks of one portal", async () => {
      await disk("sdc", "8:32", "7:0:0:1");
      await expect(locate(iscsi, "d", { iscsi_settings: settings })).rejects.toMatchObject({
        code: "AGD-002",
      });
    });

    it("says which step failed", async () => {
      machine.programs.set("iscsiadm", async () => ({ code: 24, stderr: "initiator reported error (24)" }));
      const work = locate(iscsi, "d", { iscsi_settings: settings });
      await expect(work).rejects.toThrow("discovery failed: initiator reported error (24)");
    });

    it.each([
      [{ ...settings, username: "" }, "username is empty"],
      [{ ...settings, password: "a\nnode.startup = manual" }, "password has more than one line"],
      [{ ...settings, target: "--help" }, "target is not an address"],
    ])("refuses settings that could become something else", async (bad, said) => {
      await expect(locate(iscsi, "d", { iscsi_settings: bad })).rejects.toThrow(said);
      expect(machine.commands).toEqual([]);
    });
  });
});
