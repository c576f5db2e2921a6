import { describe, expect, it } from "vitest";
import type { AwsConfig } from "../config.ts";
import type { InstanceTypeFacts } from "../ec2/instance-types.ts";
import { blockDevices } from "./block-devices.ts";

const image = {
  ...{ imageId: "ami-1", imageState: "available", rootDeviceName: "/dev/sda1" },
  blockDeviceMapping: [{ deviceName: "/dev/sda1", ebs: { volumeSize: "5" } }],
};
const plain: InstanceTypeFacts = { nvmeVolumes: true, storage: undefined };
const nitroStorage: InstanceTypeFacts = {
  nvmeVolumes: true,
  storage: { sizeMib: 70_000, count: 2, nvme: true },
};
const xenStorage: InstanceTypeFacts = {
  nvmeVolumes: false,
  storage: { sizeMib: 30_000, count: 2, nvme: false },
};
const i3: InstanceTypeFacts = { nvmeVolumes: false, storage: { sizeMib: 450_000, count: 1, nvme: true } };
const devices = (properties: object, facts = plain, config: AwsConfig = {}) =>
  blockDevices({ instance_type: "m5.large", ...properties }, image, facts, config);

describe("block devices of a VM", () => {
  it("are the image's root and 10 GiB of gp3, unless asked otherwise", () => {
    expect(devices({}).mappings).toMatchObject([
      { DeviceName: "/dev/sda1", Ebs: { VolumeSize: 5, VolumeType: "gp3", DeleteOnTermination: true } },
      { DeviceName: "/dev/sdb", Ebs: { VolumeSize: 10, DeleteOnTermination: true } },
    ]);
    const asked = { root_disk: { size: 9000, type: "gp2" }, ephemeral_disk: { size: 30_000, iops: 4000 } };
    expect(devices(asked).mappings).toMatchObject([
      { Ebs: { VolumeSize: 9, VolumeType: "gp2" } },
      { Ebs: { VolumeSize: 30, Iops: 4000 } },
    ]);
  });

  it("have an ephemeral disk as large as the type's instance storage", () => {
    expect(devices({}, xenStorage).mappings[1]).toMatchObject({ Ebs: { VolumeSize: 30 } });
  });

  it("are encrypted as the configuration says, unless the VM type says otherwise", () => {
    const config = { encrypted: true, kms_key_arn: "arn:key" };
    expect(devices({}, plain, config).mappings[1]).toMatchObject({
      Ebs: { Encrypted: true, KmsKeyId: "arn:key" },
    });
    const not = devices({ ephemeral_disk: { encrypted: false } }, plain, config).mappings[1];
    expect(not).not.toHaveProperty("Ebs.Encrypted");
  });

  it("may leave the ephemeral disk to the root disk", () => {
    const { mappings, disks } = devices({ ephemeral_disk: { use_root_disk: true } });
    expect(mappings).toHaveLength(1);
    expect(disks).toEqual({ system: "/dev/sda1", ephemeral: "" });
  });

  it("may be instance storage where its name is known", () => {
    const asked = { ephemeral_disk: { use_instance_storage: true } };
    expect(devices(asked, xenStorage).mappings[1]).toEqual({
      DeviceName: "/dev/sdb",
      VirtualName: "ephemeral0",
    });
    expect(devices(asked, i3).disks).toMatchObject({ ephemeral: "/dev/nvme0n1" });
    expect(() => devices(asked, nitroStorage)).toThrow(/refuses ephemeral_disk.use_instance_storage/);
    expect(() => devices(asked, plain)).toThrow(/has no instance storage/);
    const both = { ephemeral_disk: { use_instance_storage: true, size: 100 } };
    expect(() => devices(both, xenStorage)).toThrow(/takes neither size/);
  });

  it("name raw instance storage for the agent", () => {
    const raw = { raw_instance_storage: true };
    expect(devices(raw, nitroStorage).disks.raw_ephemeral).toEqual([
      { path: "/dev/nvme2n1" },
      { path: "/dev/nvme3n1" },
    ]);
    const { mappings, disks } = devices(raw, xenStorage);
    expect(disks.raw_ephemeral).toEqual([{ path: "/dev/xvdba" }, { path: "/dev/xvdbb" }]);
    expect(mappings).toContainEqual({ DeviceName: "/dev/xvdba", VirtualName: "ephemeral0" });
  });
});
