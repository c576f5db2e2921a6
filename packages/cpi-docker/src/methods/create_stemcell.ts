import { openCloud } from "../cloud-context.ts";
import { labelsOf } from "../labels.ts";
import { createStemcell as create } from "../stemcells/stemcells.ts";
import type { DockerMethods } from "./_method.ts";

/** An image of the engine: imported, or one that is there already. It gets its name last. */
export const createStemcell: DockerMethods["createStemcell"] = async ({ imagePath, cloudProperties }, call) =>
  create(await openCloud(call), {
    token: call.token,
    imagePath,
    cloudProperties,
    labels: (cid) => labelsOf("stemcell", cid, call.request),
  });
