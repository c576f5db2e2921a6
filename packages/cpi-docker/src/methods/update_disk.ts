import { notSupported } from "@slipway/cpi-sdk/errors";
import { openCloud } from "../cloud-context.ts";
import { provisionDisk, typeOfDisk } from "../disks/disks.ts";
import { readDiskProperties } from "../disks/properties.ts";
import type { DockerMethods } from "./_method.ts";
import { resizeDisk } from "./resize_disk.ts";

/** In place, the size can change, and whether all the space is taken. */
export const updateDisk: DockerMethods["updateDisk"] = async (args, call) => {
  const { type, provisioning } = readDiskProperties(args.cloudProperties);
  const cloud = await openCloud(call);
  const is = await typeOfDisk(cloud, args.diskCid);
  if (type !== undefined && type !== is)
    throw notSupported(`disk '${args.diskCid}' is a ${is} and cannot become a ${type}`);
  if (provisioning !== undefined) await provisionDisk(cloud, args.diskCid, provisioning);
  await resizeDisk(args, call);
  return args.diskCid;
};
