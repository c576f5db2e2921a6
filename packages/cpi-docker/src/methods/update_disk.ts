import { notSupported } from "@slipway/cpi-sdk/errors";
import { openCloud } from "../cloud.ts";
import { typeOfDisk } from "../disks/disks.ts";
import { readDiskProperties } from "../disks/properties.ts";
import type { DockerMethods } from "./_method.ts";
import { resizeDisk } from "./resize_disk.ts";

/** In place, only the size can change. */
export const updateDisk: DockerMethods["updateDisk"] = async (args, call) => {
  const { type } = readDiskProperties(args.cloudProperties);
  const is = await typeOfDisk(await openCloud(call), args.diskCid);
  if (type !== undefined && type !== is)
    throw notSupported(`disk '${args.diskCid}' is a ${is} and cannot become a ${type}`);
  await resizeDisk(args, call);
  return args.diskCid;
};
