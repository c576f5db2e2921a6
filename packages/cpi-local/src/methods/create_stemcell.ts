import { openCloud } from "../local-cloud.ts";
import { createStemcell as create, removeStemcell } from "../stemcells/stemcells.ts";
import type { LocalMethods } from "./_method.ts";

/** Keeps a root file system, or notes that the stemcell has none: then sandboxes have the host's. */
export const createStemcell: LocalMethods["createStemcell"] = async (
  { imagePath, cloudProperties },
  { config, token, signal, log, cleanup },
) => {
  const cloud = await openCloud(config);
  const cid = `stemcell-${token}`;
  cleanup(() => removeStemcell(cloud, cid));
  return await create(cloud, { cid, imagePath, cloudProperties, signal, warn: log.warn });
};
