import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";

/** How a VM of a type sees its disks. */
export interface InstanceTypeFacts {
  /** EBS volumes are NVMe devices: the type is of the Nitro system. */
  readonly nvmeVolumes: boolean;
  readonly storage:
    | { readonly sizeMib: number | undefined; readonly count: number; readonly nvme: boolean }
    | undefined;
}

const types = open({
  instanceTypeSet: v.array(
    open({
      instanceType: v.string(),
      ebsInfo: v.optional(open({ nvmeSupport: v.optional(v.string()) })),
      instanceStorageInfo: v.optional(
        open({
          nvmeSupport: v.optional(v.string()),
          disks: v.optional(v.array(open({ sizeInGB: v.string(), count: v.string() }))),
        }),
      ),
    }),
  ),
});

/** Families whose EBS volumes are not NVMe devices: all before Nitro. New families are of Nitro. */
const XEN = /^(c1|c3|c4|cc2|cr1|d2|f1|g2|g3|g3s|h1|hi1|hs1|i2|i3|m1|m2|m3|m4|p2|p3|r3|r4|t1|t2|x1|x1e)\./;

export async function instanceTypeFacts(cloud: AwsCloud, type: string): Promise<InstanceTypeFacts> {
  if (cloud.config.enable_describe_instance_types === false) return knownFacts(type);
  const found = await unlessRefused(
    cloud.ec2.call(types, "DescribeInstanceTypes", { InstanceType: [type] }),
    "InvalidInstanceType",
    "InvalidParameterValue",
  );
  const one = found?.instanceTypeSet[0];
  // RunInstances refuses a type that does not exist in better words.
  if (one === undefined) return knownFacts(type);
  const disk = one.instanceStorageInfo?.disks?.[0];
  return {
    nvmeVolumes: one.ebsInfo?.nvmeSupport === "required",
    storage:
      disk === undefined
        ? undefined
        : {
            // The type's sizes are GB, which are rounded up where they become a volume.
            sizeMib: Math.ceil((Number(disk.sizeInGB) * 1000 ** 3) / 1024 ** 2),
            count: Number(disk.count),
            nvme: ["required", "supported"].includes(one.instanceStorageInfo?.nvmeSupport ?? ""),
          },
  };
}

/** Without the permission to ask, by the name. Sizes and numbers of instance storage are not known then. */
function knownFacts(type: string): InstanceTypeFacts {
  const xen = XEN.test(type);
  const storage = xen
    ? /^(c1|c3|d2|f1|g2|h1|hi1|hs1|i2|i3|m1|m2|m3|r3|x1|x1e)\./.test(type)
    : /^(i\d|im|is|d3|g[4-6]|p4|p5|trn1)/.test(type) || /\dd|\d[a-z]d/.test(type);
  return {
    nvmeVolumes: !xen,
    storage: storage ? { sizeMib: undefined, count: 1, nvme: !xen || /^(i3|f1)\./.test(type) } : undefined,
  };
}
