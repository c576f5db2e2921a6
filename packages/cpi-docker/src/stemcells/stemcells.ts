import { cloudError } from "@slipway/cpi-sdk/errors";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DockerCloudContext } from "../cloud-context.ts";
import { BadImage } from "../errors.ts";
import { LABEL, type Labels } from "../labels.ts";
import { listContainers } from "../vms/containers.ts";
import { imageKind } from "./image-kind.ts";
import { cidOfToken, findImage, referenceOf, tagOf, untagImage } from "./images.ts";
import { importRoot } from "./import.ts";
import { adoptImage } from "./light.ts";
import { readStemcellProperties } from "./properties.ts";

export interface StemcellOrder {
  readonly token: string;
  readonly imagePath: string;
  readonly cloudProperties: JsonObject;
  readonly labels: (cid: string) => Labels;
}

const INIT = ["/sbin/init"];

/** Heavy where there is an image, light where there is only the name of one. */
export async function createStemcell(cloud: DockerCloudContext, order: StemcellOrder): Promise<string> {
  const cid = cidOfToken(order.token);
  const to = tagOf(cid);
  if (to === undefined) throw BadImage({ why: `'${cid}' cannot be its name` });
  // Made by an earlier run of this request.
  if ((await findImage(cloud, referenceOf(to))) !== undefined) return cid;
  const { image_reference: reference, digest, command } = readStemcellProperties(order.cloudProperties);
  const kind = await imageKind(order.imagePath);
  if (kind !== "none") {
    const labels = { ...order.labels(cid), ...(command !== undefined && { [LABEL.command]: "given" }) };
    await importRoot(cloud, { imagePath: order.imagePath, kind, command: command ?? INIT, labels }, to);
  } else if (reference !== undefined) await adoptImage(cloud, { reference, digest }, to);
  else throw BadImage({ why: "it is empty, and the stemcell names no image_reference either" });
  return cid;
}

/** Removing one that is not there is success. */
export async function removeStemcell(cloud: DockerCloudContext, cid: string): Promise<void> {
  const tag = tagOf(cid);
  if (tag === undefined) return;
  const [user] = await listContainers(cloud, { [LABEL.kind]: "vm", [LABEL.stemcell]: cid });
  if (user !== undefined)
    throw cloudError(`stemcell '${cid}' is the root file system of the VM '${user.cid}'; delete that first`);
  await untagImage(cloud, tag);
}
