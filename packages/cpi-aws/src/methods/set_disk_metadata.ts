import { openCloud } from "../cloud.ts";
import { acceptableTags, createTags, keptTags } from "../ec2/tags.ts";
import { mustFindVolume } from "../ec2/volumes.ts";
import type { AwsMethods } from "./_method.ts";

export const setDiskMetadata: AwsMethods["setDiskMetadata"] = async ({ diskCid, metadata }, call) => {
  const cloud = openCloud(call);
  const { tagSet } = await mustFindVolume(cloud, diskCid);
  await createTags(cloud, [diskCid], acceptableTags(metadata, keptTags(tagSet), cloud.warn));
};
