import { cloudError, notSupported } from "@slipway/cpi-sdk/errors";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { createTags, TAG } from "../ec2/tags.ts";
import { askedSizeMib, gibOf, mustFindVolume, sizeMibOf, type Volume } from "../ec2/volumes.ts";
import { SETTLED_WITHIN_MS, waitFor } from "../ec2/wait.ts";
import type { DiskProperties } from "../properties.ts";

/** Change of a volume that EC2 makes in place, attached or not. */
export async function changeDisk(
  cloud: AwsCloud,
  diskCid: string,
  sizeMib: number,
  properties: DiskProperties | undefined,
): Promise<void> {
  const volume = await mustFindVolume(cloud, diskCid);
  const asked = askedSizeMib(volume);
  if (gibOf(sizeMib) < Number(volume.size) || (asked !== undefined && sizeMib < asked))
    throw notSupported(
      `disk '${diskCid}' has ${sizeMibOf(volume)} MiB, and EBS volumes do not shrink to ${sizeMib}`,
    );
  if (properties !== undefined) refuseEncryption(cloud, volume, properties);
  const changes = changesOf(volume, sizeMib, properties);
  if (Object.keys(changes).length > 0) await modify(cloud, volume, changes);
  if (sizeMib !== asked) await createTags(cloud, [diskCid], { [TAG.size]: String(sizeMib) });
}

/** Encryption of a volume is decided when it is made: the Director copies to a new disk when this is NotSupported. */
function refuseEncryption(cloud: AwsCloud, volume: Volume, properties: DiskProperties): void {
  const wanted = properties.encrypted ?? cloud.config.encrypted ?? false;
  const is = volume.encrypted === "true";
  if (wanted !== is)
    throw notSupported(
      `disk '${volume.volumeId}' is ${is ? "" : "not "}encrypted, and EBS changes that only by a copy`,
    );
  const key = wanted ? (properties.kms_key_arn ?? cloud.config.kms_key_arn) : undefined;
  if (key && volume.kmsKeyId && volume.kmsKeyId !== key)
    throw notSupported(`disk '${volume.volumeId}' has another KMS key, and EBS changes that only by a copy`);
}

interface Changes {
  readonly Size?: number;
  readonly VolumeType?: string;
  readonly Iops?: number;
  readonly Throughput?: number;
}

/** Only what differs: EC2 counts a change without effect, and allows the next one hours later. */
function changesOf(volume: Volume, sizeMib: number, properties: DiskProperties | undefined): Changes {
  const { type, iops, throughput } = properties ?? {};
  const wantedType = properties === undefined ? undefined : (type ?? "gp3");
  return {
    ...(gibOf(sizeMib) > Number(volume.size) && { Size: gibOf(sizeMib) }),
    ...(wantedType !== undefined && wantedType !== volume.volumeType && { VolumeType: wantedType }),
    ...(iops != null && String(iops) !== volume.iops && { Iops: iops }),
    ...(throughput != null && String(throughput) !== volume.throughput && { Throughput: throughput }),
  };
}

const modification = open({
  modificationState: v.optional(v.string()),
  statusMessage: v.optional(v.string()),
});

async function modify(cloud: AwsCloud, { volumeId }: Volume, changes: Changes): Promise<void> {
  await unlessRefused(
    cloud.ec2.call(v.unknown(), "ModifyVolume", { VolumeId: volumeId, ...changes }),
    // The answer to the first try was lost: the change is under way.
    "IncorrectModificationState",
  );
  let state = "modifying";
  await waitFor(
    cloud,
    async () => {
      const found = await unlessRefused(
        cloud.ec2.call(
          open({ volumeModificationSet: v.array(modification) }),
          "DescribeVolumesModifications",
          {
            VolumeId: [volumeId],
          },
        ),
        "InvalidVolumeModification.NotFound",
      );
      const last = found?.volumeModificationSet[0];
      state = last?.modificationState ?? state;
      if (state === "failed")
        throw cloudError(
          `changing disk '${volumeId}' failed: ${last?.statusMessage ?? "AWS does not say why"}`,
        );
      // The new size and type can be used while the volume is optimized, which takes hours.
      return ["optimizing", "completed"].includes(state) ? true : undefined;
    },
    {
      withinMs: SETTLED_WITHIN_MS,
      what: `the change of volume ${volumeId}`,
      wanted: "optimizing",
      is: () => state,
    },
  );
}
