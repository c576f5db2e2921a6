import { openCloud } from "../cloud-context.ts";
import { removeStemcell } from "../stemcells/stemcells.ts";
import type { DockerMethods } from "./_method.ts";

/** Refused while a VM was made from it. */
export const deleteStemcell: DockerMethods["deleteStemcell"] = async ({ stemcellCid }, call) =>
  removeStemcell(await openCloud(call), stemcellCid);
