import { isObject } from "@slipway/protocol/schema/json";
import { openCloud, unstoppable } from "../cloud.ts";
import { vmOfRequest } from "../ec2/instances.ts";
import { acceptableTags, TAG } from "../ec2/tags.ts";
import { readVmProperties } from "../properties.ts";
import { createVm as create } from "../vms/create.ts";
import { deleteInterfacesOf } from "../vms/interfaces.ts";
import { endInterfacesWith } from "../vms/routing.ts";
import { terminate } from "../vms/terminate.ts";
import type { AwsMethods } from "./_method.ts";

/** Launches an instance and waits until it runs, not for its agent. */
export const createVm: AwsMethods["createVm"] = async (args, call) => {
  const { properties, unknown } = readVmProperties(args.cloudProperties);
  if (unknown.length > 0) call.log.warn(`cloud properties nobody reads: ${unknown.join(", ")}`);
  const cloud = openCloud(call);
  const own = {
    ...{ [TAG.kind]: "vm", [TAG.director]: call.request.directorUuid, [TAG.token]: call.token },
    ...{ [TAG.agent]: args.agentId, [TAG.stemcell]: args.stemcellCid },
  };
  call.cleanup(async () => {
    const undoing = unstoppable(cloud);
    const made = await vmOfRequest(undoing, call.token);
    if (made !== undefined) {
      await endInterfacesWith(undoing, made);
      await terminate(undoing, made.instanceId);
    }
    await deleteInterfacesOf(undoing, call.token);
  });
  return await create(cloud, {
    token: call.token,
    stemcellCid: args.stemcellCid,
    properties,
    networks: args.networks,
    diskCids: args.diskCids ?? [],
    tags: acceptableTags({ ...tagsOfManifest(args.env), ...properties.tags }, own, cloud.warn),
    userData: (networks, disks) => call.userData({ networks, disks, name: `vm-${args.agentId}` }),
  });
};

function tagsOfManifest(env: unknown): Readonly<Record<string, unknown>> {
  const bosh = isObject(env) ? env.bosh : undefined;
  const tags = isObject(bosh) ? bosh.tags : undefined;
  return isObject(tags) ? tags : {};
}
