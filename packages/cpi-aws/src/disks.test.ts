import { awsSite, hasMoto } from "@slipway/testkit/aws-cloud";
import { allOf } from "@slipway/testkit/strict-aws-rules";
import { describe, expect, it } from "vitest";
import { POLICY_ACTIONS } from "./policy.ts";
import { AwsCpi } from "./testing/aws-cpi.ts";

interface Resources {
  readonly disks: readonly { readonly cid: string; readonly size: number; readonly metadata: object }[];
}

describe.runIf(hasMoto())("the AWS CPI and its disks:", () => {
  const site = awsSite(POLICY_ACTIONS);
  const cpi = new AwsCpi(site);
  let last = 10;
  const vm = (properties: object = {}) => cpi.create({ a: cpi.network(`10.0.1.${++last}`) }, properties);
  const disk = (size = 1024, properties: object = {}, holder: string | null = null) =>
    cpi.call<string>("create_disk", [size, properties, holder]);
  const volume = (cid: string) => cpi.show("DescribeVolumes", { "VolumeId.1": cid });
  const disks = async () => (await cpi.call<Resources>("list_resources", [])).disks;

  it("names disks of Nitro types by the volume, and of Xen types by the device", async () => {
    const [nitro, xen] = [await vm({ instance_type: "m5.large" }), await vm({ instance_type: "m4.large" })];
    const [one, other] = [await disk(), await disk()];
    const dash = one.replace("-", "");
    expect(await cpi.call("attach_disk", [nitro, one])).toBe(
      `/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_${dash}`,
    );
    expect(await cpi.call("attach_disk", [xen, other])).toBe("/dev/sdf");
    const static_ = { config: { enable_describe_instance_types: false } };
    site().proxy.calls.splice(0);
    expect(await cpi.call("attach_disk", [xen, other], static_)).toBe("/dev/sdf");
    expect(await cpi.call("attach_disk", [nitro, one], static_)).toContain("nvme-Amazon");
    expect(site().proxy.calls).not.toContain("ec2:DescribeInstanceTypes");
    for (const cid of [nitro, xen]) await cpi.call("delete_vm", [cid]);
    for (const cid of [one, other]) await cpi.call("delete_disk", [cid]);
  });

  it("keeps an attached disk when its VM is deleted, and refuses to delete or move one that a VM has", async () => {
    const [first, second, cid] = [await vm(), await vm(), await disk()];
    await cpi.call("attach_disk", [first, cid]);
    expect((await cpi.refusal("delete_disk", [cid])).message).toMatch(/AWS-016.*attached to VM/);
    expect((await cpi.refusal("attach_disk", [second, cid])).message).toContain(`attached to VM ${first}`);
    await cpi.call("delete_vm", [first]);
    await cpi.call("attach_disk", [second, cid]);
    await cpi.call("delete_vm", [second]);
    await cpi.call("delete_disk", [cid]);
  });

  it("waits for attachments that take time, and finds one whose answer was lost", async () => {
    const { proxy } = site();
    const [holder, cid] = [await vm(), await disk()];
    proxy.lag = { hidden: 0, states: 2 };
    proxy.loseAnswer("AttachVolume");
    await cpi.call("attach_disk", [holder, cid]);
    expect(await cpi.call("get_disks", [holder])).toEqual([cid]);
    proxy.loseAnswer("DetachVolume");
    await cpi.call("detach_disk", [holder, cid]);
    expect(await cpi.call("get_disks", [holder])).toEqual([]);
    const refused = await cpi.refusal("detach_disk", [holder, cid]);
    expect(refused.type).toBe("Bosh::Clouds::DiskNotAttached");
    proxy.calm();
    await cpi.call("delete_vm", [holder]);
    await cpi.call("delete_disk", [cid]);
  });

  it("makes one disk although the answer is lost, shown late, and asked for again", async () => {
    const { proxy } = site();
    const before = (await disks()).length;
    proxy.loseAnswer("CreateVolume");
    proxy.lag = { hidden: 1, states: 1 };
    const asked = { requestId: "the-same-disk" };
    const first = await cpi.call("create_disk", [1024, {}, null], asked);
    expect(await cpi.call("create_disk", [1024, {}, null], asked)).toBe(first);
    proxy.calm();
    expect(await disks()).toHaveLength(before + 1);
    await cpi.call("delete_disk", [first]);
  });

  it("makes one snapshot although the answer is lost, and deletes it twice", async () => {
    const { proxy } = site();
    const cid = await disk();
    proxy.loseAnswer("CreateSnapshot");
    const made = await cpi.call<string>("snapshot_disk", [
      cid,
      { deployment: "shop", job: "db", index: "0" },
    ]);
    const shown = await cpi.show("DescribeSnapshots", { "Owner.1": "self" });
    expect(allOf(shown, "volumeId").filter((one) => one === cid)).toHaveLength(1);
    expect(shown).toContain("<description>shop/db/0</description>");
    for (const _ of ["first", "second"]) await cpi.call("delete_snapshot", [made]);
    await cpi.call("delete_disk", [cid]);
  });

  it("rounds sizes up to GiB, remembers what was asked for, grows and does not shrink", async () => {
    const { proxy } = site();
    const cid = await disk(1500);
    expect(await volume(cid)).toContain("<size>2</size>");
    proxy.calls.splice(0);
    await cpi.call("resize_disk", [cid, 2000]);
    expect(proxy.calls).not.toContain("ec2:ModifyVolume");
    expect((await disks()).find((one) => one.cid === cid)?.size).toBe(2000);
    proxy.lag = { hidden: 0, states: 2 };
    await cpi.call("resize_disk", [cid, 5000]);
    expect(await volume(cid)).toContain("<size>5</size>");
    expect((await cpi.refusal("resize_disk", [cid, 4000])).type).toBe("Bosh::Clouds::NotSupported");
    await cpi.call("delete_disk", [cid]);
  });

  it("changes type and throughput in place, and leaves a change of encryption to the Director", async () => {
    const cid = await disk(1024, { type: "gp2" });
    expect(await cpi.call("update_disk", [cid, 1024, { type: "gp3", iops: 4000, throughput: 200 }])).toBe(
      cid,
    );
    expect(await volume(cid)).toContain("<volumeType>gp3</volumeType>");
    const refused = await cpi.refusal("update_disk", [cid, 1024, { encrypted: true }]);
    expect(refused.type).toBe("Bosh::Clouds::NotSupported");
    await cpi.call("delete_disk", [cid]);
  });

  it("makes disks in the zone of their VM, encrypted with the key that is configured", async () => {
    const key = "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000000";
    const config = { encrypted: true, kms_key_arn: key };
    const away = { type: "dynamic", cloud_properties: { subnet: site().otherSubnet } };
    const holder = await cpi.create({ a: away });
    const cid = await cpi.call<string>("create_disk", [1024, {}, holder], { config });
    const shown = await volume(cid);
    expect(shown).toContain("<availabilityZone>us-east-1b</availabilityZone>");
    expect(shown).toContain(`<kmsKeyId>${key}</kmsKeyId>`);
    const here = await vm();
    expect((await cpi.refusal("attach_disk", [here, cid])).message).toMatch(/AWS-013.*us-east-1b/);
    for (const one of [holder, here]) await cpi.call("delete_vm", [one]);
    await cpi.call("delete_disk", [cid]);
  });

  it("refuses a size that the volume type does not have, in the words of EC2", async () => {
    const refused = await cpi.refusal("create_disk", [1024, { type: "st1" }, null]);
    expect(refused.message).toMatch(/AWS-003 ec2:CreateVolume.*125/);
  });

  it("keeps metadata of disks as tags, and lists it", async () => {
    const cid = await disk(1024, { tags: { team: "blue" } });
    await cpi.call("set_disk_metadata", [cid, { deployment: "shop", instance_index: 0 }]);
    const found = (await disks()).find((one) => one.cid === cid);
    expect(found?.metadata).toEqual({ team: "blue", deployment: "shop", instance_index: "0" });
    await cpi.call("delete_disk", [cid]);
  });

  it("gives light stemcells the image of the region, and names regions when there is none", async () => {
    const { image } = site();
    const ami = { "us-east-1": image, "eu-west-1": "ami-0123456789abcdef0" };
    const light = await cpi.call<string>("create_stemcell", [
      "/none",
      { ami, disk: 3072, architecture: "x86_64" },
    ]);
    expect(light).toBe(`${image} light`);
    await cpi.call("delete_stemcell", [light]);
    expect(await cpi.show("DescribeImages", { "ImageId.1": image })).toContain(image);
    const elsewhere = { ami: { "eu-west-1": "ami-0123456789abcdef0" } };
    expect((await cpi.refusal("create_stemcell", ["/none", elsewhere])).message).toMatch(
      /AWS-020.*us-east-1.*eu-west-1/,
    );
    const heavy = await cpi.refusal("create_stemcell", ["/none", { disk: 3072 }]);
    expect(heavy.message).toMatch(/AWS-012.*heavy stemcells.*upload the light stemcell/);
  });

  it("copies a stemcell for encryption once, and deletes the copy with its snapshots", async () => {
    const { image, proxy } = site();
    const asked = ["/none", { ami: { "us-east-1": image }, encrypted: true, name: "noble", version: "1.2" }];
    const once = { requestId: "an-encrypted-copy" };
    const copy = await cpi.call<string>("create_stemcell", asked, once);
    expect(copy).toMatch(/^ami-[0-9a-f]+$/);
    expect(copy).not.toBe(image);
    expect(await cpi.call("create_stemcell", asked, once)).toBe(copy);
    await cpi.call("delete_stemcell", [copy]);
    expect(proxy.calls).toContain("ec2:DeregisterImage");
  });
});
