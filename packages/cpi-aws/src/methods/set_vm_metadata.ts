import { openCloud } from "../cloud.ts";
import { persistentDisks } from "../disks/attach.ts";
import { mustFindVm, volumesOf } from "../ec2/instances.ts";
import { acceptableTags, createTags, keptTags } from "../ec2/tags.ts";
import type { AwsMethods } from "./_method.ts";

/** Tags of the instance and of the volumes that go with it. `Name` is what the console shows. */
export const setVmMetadata: AwsMethods["setVmMetadata"] = async ({ vmCid, metadata }, call) => {
  const cloud = openCloud(call);
  const vm = await mustFindVm(cloud, vmCid);
  const { name, job, index, compiling } = metadata as Readonly<Record<string, unknown>>;
  const named =
    name ?? (job && index !== undefined ? `${job}/${index}` : compiling && `compiling/${compiling}`);
  const told = { ...(named ? { Name: named } : {}), ...metadata };
  const tags = acceptableTags(told, keptTags(vm.tagSet), cloud.warn);
  await createTags(cloud, [vmCid], tags);
  const kept = persistentDisks(vm);
  const volumes = [...volumesOf(vm).values()].filter((id) => !kept.includes(id));
  const forVolumes = Object.fromEntries(Object.entries(tags).filter(([key]) => !key.startsWith("slipway:")));
  await createTags(cloud, volumes, forVolumes);
};
