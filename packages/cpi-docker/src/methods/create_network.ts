import { notSupported } from "@slipway/cpi-sdk/errors";
import { openCloud, unstoppable } from "../cloud-context.ts";
import { labelsOf } from "../labels.ts";
import { createNetwork as create, removeNetwork } from "../networks/networks.ts";
import type { DockerMethods } from "./_method.ts";

/** A bridge, with the range that was asked for or one of the engine's choice. */
export const createNetwork: DockerMethods["createNetwork"] = async ({ definition }, call) => {
  const cloud = await openCloud(call);
  const cid = `network-${call.token}`;
  call.cleanup(() => removeNetwork(unstoppable(cloud), cid));
  const order = { range: definition.range, gateway: definition.gateway };
  const { range, gateway } = await create(cloud, cid, order, labelsOf("network", cid, call.request));
  // The engine chooses from pools of its own: a larger range does, a smaller one does not.
  const [bits, wanted] = [Number(range?.split("/")[1]), definition.netmask_bits];
  if (definition.range === undefined && wanted !== undefined && !(bits <= wanted))
    throw notSupported(
      `the engine gave the range ${range}, smaller than netmask_bits ${wanted}; give the subnet a range`,
    );
  return {
    cid,
    ...(range !== undefined && { range }),
    ...(gateway !== undefined && { gateway }),
    reserved: [],
    cloudProperties: { name: cid },
  };
};
