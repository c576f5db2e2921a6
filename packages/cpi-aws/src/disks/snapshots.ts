import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { filter, type QueryParameters } from "../api/query.ts";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { acceptableTags, TAG, tagSpecification } from "../ec2/tags.ts";
import { attachmentOf, mustFindVolume } from "../ec2/volumes.ts";
import { NoAnswer } from "../errors.ts";

const snapshots = open({ snapshotSet: v.array(open({ snapshotId: v.string() })) });

/** Snapshots have no client token: an earlier run's is found by its tag. */
const snapshotOfRequest = async (cloud: AwsCloud, token: string): Promise<string | undefined> => {
  const asked = { Owner: ["self"], Filter: [filter(`tag:${TAG.token}`, token)] };
  return (await cloud.ec2.call(snapshots, "DescribeSnapshots", asked)).snapshotSet[0]?.snapshotId;
};

/** Begins a snapshot. It holds what was written until now, and EC2 completes it on its own. */
export async function snapshotDisk(
  cloud: AwsCloud,
  diskCid: string,
  metadata: Readonly<Record<string, unknown>>,
  token: string,
): Promise<string> {
  const volume = await mustFindVolume(cloud, diskCid);
  const before = await snapshotOfRequest(cloud, token);
  if (before !== undefined) return before;
  const device = attachmentOf(volume)?.device?.split("/").at(-1);
  const name = ["deployment", "job", "index"].flatMap((key) => {
    const value = metadata[key];
    return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
  });
  const own = { [TAG.kind]: "snapshot", [TAG.director]: cloud.directorUuid, [TAG.token]: token };
  const description = [...name, ...(device === undefined ? [] : [device])].join("/");
  const named = description === "" ? {} : { Name: description };
  const tags = acceptableTags({ ...metadata, ...named }, own, cloud.warn);
  return await onlyOne(cloud, token, {
    ...{ VolumeId: diskCid, Description: description || diskCid },
    TagSpecification: tagSpecification(["snapshot"], tags),
  });
}

/** Looks for the snapshot before it asks again for one whose answer was lost. */
async function onlyOne(cloud: AwsCloud, token: string, asked: QueryParameters): Promise<string> {
  const made = open({ snapshotId: v.string() });
  for (let left = LOST_ANSWERS; ; left--) {
    try {
      return (await cloud.ec2.call(made, "CreateSnapshot", asked, "throw")).snapshotId;
    } catch (error) {
      if (left === 0 || !NoAnswer.is(error)) throw error;
      // It may show late.
      for (let look = 0; look < LOOKS; look++) {
        const found = await snapshotOfRequest(cloud, token);
        if (found !== undefined) return found;
        await cloud.clock.sleep(LOOK_EVERY_MS, cloud.signal);
      }
    }
  }
}

const LOST_ANSWERS = 2;
const LOOKS = 5;
const LOOK_EVERY_MS = 1_000;

export async function deleteSnapshot(cloud: AwsCloud, id: string): Promise<void> {
  if (!/^snap-[0-9a-f]{8,17}$/.test(id)) return;
  await unlessRefused(
    cloud.ec2.call(v.unknown(), "DeleteSnapshot", { SnapshotId: id }),
    "InvalidSnapshot.NotFound",
  );
}
