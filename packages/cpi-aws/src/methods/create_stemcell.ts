import { openCloud, unstoppable } from "../cloud.ts";
import { createStemcell as create, removeCopyOf } from "../stemcells/light.ts";
import type { AwsMethods } from "./_method.ts";

/** The image of this region. It is there already; only an encrypted stemcell gets a copy of its own. */
export const createStemcell: AwsMethods["createStemcell"] = async ({ cloudProperties }, call) => {
  const cloud = openCloud(call);
  call.cleanup(() => removeCopyOf(unstoppable(cloud), call.token));
  return await create(cloud, call.token, cloudProperties);
};
