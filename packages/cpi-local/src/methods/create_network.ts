import { openCloud } from "../local-cloud.ts";
import { createNetwork as create } from "../networks/managed.ts";
import type { LocalMethods } from "./_method.ts";

/** The range that was asked for, or a free one of 127.0.0.0/8. */
export const createNetwork: LocalMethods["createNetwork"] = async ({ definition }, { config, token }) => {
  const cid = `network-${token}`;
  const order = { range: definition.range, gateway: definition.gateway, bits: definition.netmask_bits };
  const { range, gateway } = await create(await openCloud(config), cid, order);
  return { cid, range, gateway, reserved: [], cloudProperties: {} };
};
