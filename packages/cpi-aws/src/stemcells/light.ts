import type { JsonObject } from "@slipway/protocol/schema/json";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { findImage, imageOfRequest } from "../ec2/images.ts";
import { acceptableTags, TAG, tagSpecification } from "../ec2/tags.ts";
import { SETTLED_WITHIN_MS, waitFor } from "../ec2/wait.ts";
import { AwsMissing, NoImage, StateNotReached, UnsupportedKey } from "../errors.ts";
import { readStemcellProperties, type StemcellProperties } from "../properties.ts";

/** Mark of stemcells whose image is not ours: it is in cids of upstream's CPI, too. */
const LIGHT = " light";

export const imageIdOf = (cid: string): string => (cid.endsWith(LIGHT) ? cid.slice(0, -LIGHT.length) : cid);

/** Finds the image of this region. With encryption it is copied, and the copy is the stemcell's. */
export async function createStemcell(cloud: AwsCloud, token: string, given: JsonObject): Promise<string> {
  const properties = readStemcellProperties({ ...given, ...(cloud.config.stemcell ?? {}) });
  const { ami } = properties;
  if (ami == null || Object.keys(ami).length === 0)
    throw UnsupportedKey({
      what: "the stemcell",
      key: "heavy stemcells (stemcell_formats aws-raw, without ami)",
      why: "upload the light stemcell of the same version instead, or import its image once and name the AMI in `ami: {REGION: ID}` of stemcell.MF",
    });
  const id = ami[cloud.region];
  if (id === undefined) throw NoImage({ region: cloud.region, known: Object.keys(ami) });
  const image = await findImage(cloud, id);
  if (image === undefined)
    throw AwsMissing({
      kind: "image",
      name: id,
      where: `region ${cloud.region}; it may not be shared with this account`,
    });
  if (image.imageState !== "available")
    throw StateNotReached({ what: `image ${id}`, wanted: "available", is: image.imageState });
  const encrypted = properties.encrypted ?? cloud.config.encrypted ?? false;
  return encrypted ? await encryptedCopy(cloud, token, id, properties) : `${id}${LIGHT}`;
}

async function encryptedCopy(
  cloud: AwsCloud,
  token: string,
  source: string,
  properties: StemcellProperties,
): Promise<string> {
  const own = { [TAG.kind]: "stemcell", [TAG.director]: cloud.directorUuid, [TAG.token]: token };
  const tags = acceptableTags(properties.tags ?? {}, own, cloud.warn);
  const before = await imageOfRequest(cloud, token);
  const id =
    before?.imageId ??
    (
      await cloud.ec2.call(open({ imageId: v.string() }), "CopyImage", {
        ...{ SourceRegion: cloud.region, SourceImageId: source, Encrypted: true, ClientToken: token },
        KmsKeyId: properties.kms_key_arn ?? cloud.config.kms_key_arn ?? undefined,
        Name: `slipway ${properties.name ?? source} ${properties.version ?? ""} ${token}`.slice(0, 128),
        TagSpecification: tagSpecification(["image", "snapshot"], tags),
      })
    ).imageId;
  let state = "pending";
  await waitFor(
    cloud,
    async () => {
      state = (await findImage(cloud, id))?.imageState ?? state;
      if (["failed", "error", "invalid"].includes(state))
        throw StateNotReached({ what: `the encrypted copy ${id}`, wanted: "available", is: state });
      return state === "available" ? true : undefined;
    },
    { withinMs: COPIED_WITHIN_MS, what: `the encrypted copy ${id}`, wanted: "available", is: () => state },
  );
  return id;
}

const COPIED_WITHIN_MS = 6 * SETTLED_WITHIN_MS;

/** Takes back a copy, by its token. */
export async function removeCopyOf(cloud: AwsCloud, token: string): Promise<void> {
  const found = await imageOfRequest(cloud, token);
  if (found !== undefined) await deleteStemcell(cloud, found.imageId);
}

/** Deletes a copy of ours with its snapshots. A light stemcell's image belongs to others and stays. */
export async function deleteStemcell(cloud: AwsCloud, cid: string): Promise<boolean> {
  if (cid.endsWith(LIGHT)) return true;
  const image = await findImage(cloud, cid);
  if (image === undefined) return false;
  await unlessRefused(
    cloud.ec2.call(v.unknown(), "DeregisterImage", { ImageId: image.imageId }),
    "InvalidAMIID.",
  );
  for (const { ebs } of image.blockDeviceMapping ?? [])
    if (ebs?.snapshotId)
      await unlessRefused(
        cloud.ec2.call(v.unknown(), "DeleteSnapshot", { SnapshotId: ebs.snapshotId }),
        "InvalidSnapshot.NotFound",
      );
  return true;
}
