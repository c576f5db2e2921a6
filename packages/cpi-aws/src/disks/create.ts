import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { mustFindVm } from "../ec2/instances.ts";
import { firstZone } from "../ec2/subnets.ts";
import { acceptableTags, TAG, tagSpecification, tagsIn } from "../ec2/tags.ts";
import { attachmentOf, findVolume, gibOf, mustFindVolume, volumesOfDirector } from "../ec2/volumes.ts";
import { SETTLED_WITHIN_MS, waitFor } from "../ec2/wait.ts";
import { DiskTaken, StateNotReached } from "../errors.ts";
import type { DiskProperties } from "../properties.ts";

export interface NewDisk {
  readonly token: string;
  readonly sizeMib: number;
  readonly properties: DiskProperties;
  /** VM that the disk is for, whose zone it must be in. */
  readonly vmCid: string | undefined;
}

/** Makes a volume. The client token makes it one, however often this is repeated. */
export async function createDisk(cloud: AwsCloud, disk: NewDisk): Promise<string> {
  const { properties, token, sizeMib } = disk;
  const zone =
    disk.vmCid === undefined
      ? await firstZone(cloud)
      : (await mustFindVm(cloud, disk.vmCid)).placement.availabilityZone;
  const encrypted = properties.encrypted ?? cloud.config.encrypted ?? false;
  const own = {
    ...{ [TAG.kind]: "disk", [TAG.director]: cloud.directorUuid, [TAG.token]: token },
    [TAG.size]: String(sizeMib),
  };
  const { volumeId } = await cloud.ec2.call(open({ volumeId: v.string() }), "CreateVolume", {
    ...{ AvailabilityZone: zone, Size: gibOf(sizeMib), VolumeType: properties.type ?? "gp3" },
    ...{ Iops: properties.iops ?? undefined, Throughput: properties.throughput ?? undefined },
    ...(encrypted && {
      Encrypted: true,
      KmsKeyId: properties.kms_key_arn ?? cloud.config.kms_key_arn ?? undefined,
    }),
    ClientToken: token,
    TagSpecification: tagSpecification(["volume"], acceptableTags(properties.tags ?? {}, own, cloud.warn)),
  });
  let state = "creating";
  await waitFor(
    cloud,
    async () => {
      state = (await findVolume(cloud, volumeId))?.status ?? state;
      // A KMS key that may not be used shows itself only here.
      if (state === "error")
        throw StateNotReached({ what: `volume ${volumeId}`, wanted: "available", is: state });
      return state === "creating" ? undefined : true;
    },
    { withinMs: SETTLED_WITHIN_MS, what: `volume ${volumeId}`, wanted: "available", is: () => state },
  );
  return volumeId;
}

/** Takes back a volume, by the token of its request. */
export async function removeDiskOf(cloud: AwsCloud, token: string): Promise<void> {
  const found = (await volumesOfDirector(cloud)).find(({ tagSet }) => tagsIn(tagSet)[TAG.token] === token);
  if (found !== undefined) await deleteDisk(cloud, found.volumeId);
}

export async function deleteDisk(cloud: AwsCloud, diskCid: string): Promise<void> {
  const volume = await mustFindVolume(cloud, diskCid);
  const holder = attachmentOf(volume)?.instanceId;
  if (holder !== undefined) throw DiskTaken({ disk: diskCid, holder: `VM ${holder}` });
  // It was there a moment ago: a repeat of a try whose answer was lost does not find it.
  await unlessRefused(
    cloud.ec2.call(v.unknown(), "DeleteVolume", { VolumeId: diskCid }),
    "InvalidVolume.NotFound",
  );
}
