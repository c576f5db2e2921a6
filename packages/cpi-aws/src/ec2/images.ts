import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { filter } from "../api/query.ts";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { TAG, tagSet } from "./tags.ts";

const image = open({
  imageId: v.string(),
  imageState: v.string(),
  rootDeviceName: v.optional(v.string()),
  virtualizationType: v.optional(v.string()),
  blockDeviceMapping: v.optional(
    v.array(
      open({
        deviceName: v.optional(v.string()),
        ebs: v.optional(open({ snapshotId: v.optional(v.string()), volumeSize: v.optional(v.string()) })),
      }),
    ),
  ),
  tagSet,
});
export type Image = v.InferOutput<typeof image>;
const images = open({ imagesSet: v.array(image) });

const IMAGE_ID = /^ami-[0-9a-f]{8,17}$/;

export async function findImage(cloud: AwsCloud, id: string): Promise<Image | undefined> {
  if (!IMAGE_ID.test(id)) return undefined;
  const found = await unlessRefused(
    cloud.ec2.call(images, "DescribeImages", { ImageId: [id] }),
    "InvalidAMIID.",
  );
  const one = found?.imagesSet[0];
  return one === undefined || one.imageState === "deregistered" ? undefined : one;
}

/** Returns the copy that an earlier run of the same request made. */
export async function imageOfRequest(cloud: AwsCloud, token: string): Promise<Image | undefined> {
  const Filter = [filter(`tag:${TAG.token}`, token)];
  return (await cloud.ec2.call(images, "DescribeImages", { Owner: ["self"], Filter })).imagesSet[0];
}
