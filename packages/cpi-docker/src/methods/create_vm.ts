import { openCloud, unstoppable } from "../cloud-context.ts";
import { LABEL, labelsOf, ownerLabels } from "../labels.ts";
import { madeFor, removeUnused } from "../networks/networks.ts";
import { planNetworks } from "../networks/plan.ts";
import { imageOfStemcell } from "../stemcells/images.ts";
import { removeContainer } from "../vms/containers.ts";
import { createVm as create, fileSystemIn } from "../vms/create.ts";
import { readVmProperties } from "../vms/properties.ts";
import type { DockerMethods } from "./_method.ts";

/** Makes and starts a container; does not wait for its agent. */
export const createVm: DockerMethods["createVm"] = async (args, call) => {
  const cid = `vm-${call.token}`;
  const { properties, unknown } = readVmProperties(args.cloudProperties);
  if (unknown.length > 0) call.log.warn(`cloud properties nobody reads: ${unknown.join(", ")}`);
  const plan = planNetworks(args.networks);
  const cloud = await openCloud(call);
  const { reference, command, given } = await imageOfStemcell(cloud, args.stemcellCid);
  call.cleanup(async () => {
    const undoing = unstoppable(cloud);
    await removeContainer(undoing, cid);
    await removeUnused(undoing, madeFor(plan.requests));
  });
  await create(cloud, {
    cid,
    agentId: args.agentId,
    image: reference,
    command,
    given,
    fileSystem: fileSystemIn(args.env),
    plan,
    properties,
    labels: {
      ...labelsOf("vm", cid, call.request),
      ...ownerLabels(args.env),
      [LABEL.agent]: args.agentId,
      [LABEL.stemcell]: args.stemcellCid,
    },
    networkLabels: labelsOf("network", "", call.request),
    userData: call.userData({
      networks: plan.networks,
      disks: { system: "" },
      name: cid,
      serverName: cid,
    }),
  });
  return { cid, networks: plan.networks };
};
