import { cloudError } from "@slipway/cpi-sdk/errors";
import { openCloud } from "../cloud-context.ts";
import { engineInfo } from "../security.ts";
import type { DockerMethods } from "./_method.ts";

const MIB = 1024 * 1024;

/** Limits are exactly what was asked for, as long as the engine's host has that much. */
export const calculateVmCloudProperties: DockerMethods["calculateVmCloudProperties"] = async (
  { desired },
  call,
) => {
  const { NCPU, MemTotal } = await engineInfo(await openCloud(call));
  const { cpu, ram, ephemeral_disk_size } = desired;
  if (cpu > NCPU) throw cloudError(`${cpu} processors are asked for, and the engine's host has ${NCPU}`);
  if (ram * MIB > MemTotal)
    throw cloudError(`${ram} MiB are asked for, and the engine's host has ${Math.floor(MemTotal / MIB)}`);
  return { cpu, ram, ephemeral_disk_size };
};
