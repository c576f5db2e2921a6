import { openCloud } from "../cloud.ts";
import { persistentDisks } from "../disks/attach.ts";
import { vmsOfDirector } from "../ec2/instances.ts";
import { metadataIn, TAG, tagsIn } from "../ec2/tags.ts";
import { sizeMibOf, volumesOfDirector } from "../ec2/volumes.ts";
import type { AwsMethods } from "./_method.ts";

/** VMs and disks with the tags of the Director that asks. What upstream's CPI made has none, and is not listed. */
export const listResources: AwsMethods["listResources"] = async (_, call) => {
  const cloud = openCloud(call);
  const vms = await vmsOfDirector(cloud);
  const volumes = await volumesOfDirector(cloud);
  const there = volumes.filter(({ status }) => status === "available" || status === "in-use");
  return {
    vms: vms.map((vm) => {
      const tags = tagsIn(vm.tagSet);
      return {
        cid: vm.instanceId,
        ...(tags[TAG.agent] !== undefined && { agent_id: tags[TAG.agent] }),
        ...(tags[TAG.stemcell] !== undefined && { stemcell_cid: tags[TAG.stemcell] }),
        metadata: metadataIn(vm.tagSet),
        disk_cids: [...persistentDisks(vm)],
      };
    }),
    disks: there.map((volume) => ({
      ...{ cid: volume.volumeId, size: sizeMibOf(volume), metadata: metadataIn(volume.tagSet) },
    })),
  };
};
