import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { filter } from "../api/query.ts";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { AwsMissing } from "../errors.ts";

const subnet = open({ subnetId: v.string(), vpcId: v.string(), availabilityZone: v.string() });
export type Subnet = v.InferOutput<typeof subnet>;

export async function subnetsNamed(
  cloud: AwsCloud,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Subnet>> {
  const asked = [...new Set(ids)];
  const found = await unlessRefused(
    cloud.ec2.call(open({ subnetSet: v.array(subnet) }), "DescribeSubnets", { SubnetId: asked }),
    "InvalidSubnetID.",
  );
  const all = new Map((found?.subnetSet ?? []).map((one) => [one.subnetId, one]));
  const missing = asked.filter((id) => !all.has(id));
  if (missing.length > 0)
    throw AwsMissing({ kind: "subnet", name: missing.join(", "), where: `region ${cloud.region}` });
  return all;
}

const GROUP_ID = /^sg-[0-9a-f]{8,17}$/;
const groups = open({ securityGroupInfo: v.array(open({ groupId: v.string(), groupName: v.string() })) });

/** Maps names of security groups to ids within the VPC; ids are passed through. */
export async function securityGroupIds(
  cloud: AwsCloud,
  given: readonly string[],
  vpc: string,
): Promise<readonly string[]> {
  const wanted = given.filter((one) => !GROUP_ID.test(one));
  if (wanted.length === 0) return given;
  const Filter = [filter("vpc-id", vpc), filter("group-name", ...new Set(wanted))];
  const { securityGroupInfo } = await cloud.ec2.call(groups, "DescribeSecurityGroups", { Filter });
  return given.map((one) => {
    if (GROUP_ID.test(one)) return one;
    const found = securityGroupInfo.find(({ groupName }) => groupName === one);
    if (found === undefined) throw AwsMissing({ kind: "security group", name: one, where: vpc });
    return found.groupId;
  });
}

const zones = open({ availabilityZoneInfo: v.array(open({ zoneName: v.string() })) });

/** Returns the first zone of the region, always the same, for disks without a VM. */
export async function firstZone(cloud: AwsCloud): Promise<string> {
  const Filter = [filter("state", "available"), filter("zone-type", "availability-zone")];
  const { availabilityZoneInfo } = await cloud.ec2.call(zones, "DescribeAvailabilityZones", { Filter });
  const [first] = availabilityZoneInfo.map(({ zoneName }) => zoneName).sort();
  if (first === undefined)
    throw AwsMissing({ kind: "availability zone", name: "any", where: `region ${cloud.region}` });
  return first;
}
