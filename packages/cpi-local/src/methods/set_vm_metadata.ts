import { openCloud } from "../local-cloud.ts";
import { describeVm } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

/** Writes the metadata beside the sandbox, for operators who look there. */
export const setVmMetadata: LocalMethods["setVmMetadata"] = async ({ vmCid, metadata }, { config }) =>
  describeVm(await openCloud(config), vmCid, metadata);
