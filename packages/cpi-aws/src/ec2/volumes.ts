import { diskNotFound } from "@slipway/cpi-sdk/errors";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { filter } from "../api/query.ts";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { allPages } from "./pages.ts";
import { TAG, tagSet, tagsIn } from "./tags.ts";

const attachment = open({
  instanceId: v.optional(v.string()),
  device: v.optional(v.string()),
  status: v.string(),
});

const volume = open({
  volumeId: v.string(),
  status: v.string(),
  size: v.string(),
  availabilityZone: v.string(),
  volumeType: v.optional(v.string()),
  iops: v.optional(v.string()),
  throughput: v.optional(v.string()),
  encrypted: v.optional(v.string()),
  kmsKeyId: v.optional(v.string()),
  attachmentSet: v.optional(v.array(attachment)),
  tagSet,
});
export type Volume = v.InferOutput<typeof volume>;

const VOLUME_ID = /^vol-[0-9a-f]{8,17}$/;
const GIB = 1024;

export async function findVolume(cloud: AwsCloud, id: string): Promise<Volume | undefined> {
  if (!VOLUME_ID.test(id)) return undefined;
  const found = await unlessRefused(
    cloud.ec2.call(open({ volumeSet: v.array(volume) }), "DescribeVolumes", { VolumeId: [id] }),
    "InvalidVolume.NotFound",
    "InvalidVolumeID.",
    "InvalidParameterValue",
  );
  const one = found?.volumeSet[0];
  return one === undefined || ["deleting", "deleted"].includes(one.status) ? undefined : one;
}

export async function mustFindVolume(cloud: AwsCloud, id: string): Promise<Volume> {
  const found = await findVolume(cloud, id);
  if (found === undefined) throw diskNotFound(id);
  return found;
}

export const volumesOfDirector = (cloud: AwsCloud): Promise<readonly Volume[]> =>
  allPages(cloud.ec2, "DescribeVolumes", "volumeSet", volume, {
    Filter: [filter(`tag:${TAG.kind}`, "disk"), filter(`tag:${TAG.director}`, cloud.directorUuid)],
  });

/**
 * Size as it was asked for. Volumes that upstream made do not say it, nor do those whose tag is of another size: then a
 * change was cut off before the tag was written.
 */
export function askedSizeMib({ size, tagSet: set }: Volume): number | undefined {
  const told = Number(tagsIn(set)[TAG.size] ?? Number.NaN);
  return Number.isInteger(told) && gibOf(told) === Number(size) ? told : undefined;
}

export const sizeMibOf = (volume: Volume): number => askedSizeMib(volume) ?? Number(volume.size) * GIB;

export const gibOf = (mib: number): number => Math.ceil(mib / GIB);

/** The one attachment that counts; a volume that is let go has none. */
export const attachmentOf = ({ attachmentSet }: Volume) =>
  (attachmentSet ?? []).find(({ status }) => status !== "detached");
