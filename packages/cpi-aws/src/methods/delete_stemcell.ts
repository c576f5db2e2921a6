import { stemcellNotFound } from "@slipway/cpi-sdk/errors";
import { openCloud } from "../cloud.ts";
import { deleteStemcell as remove } from "../stemcells/light.ts";
import type { AwsMethods } from "./_method.ts";

export const deleteStemcell: AwsMethods["deleteStemcell"] = async ({ stemcellCid }, call) => {
  if (!(await remove(openCloud(call), stemcellCid))) throw stemcellNotFound(stemcellCid);
};
