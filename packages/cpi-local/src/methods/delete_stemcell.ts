import { openCloud } from "../local-cloud.ts";
import { removeStemcell } from "../stemcells/stemcells.ts";
import type { LocalMethods } from "./_method.ts";

/** Refused while a sandbox has it as its root. */
export const deleteStemcell: LocalMethods["deleteStemcell"] = async ({ stemcellCid }, { config }) =>
  removeStemcell(await openCloud(config), stemcellCid);
