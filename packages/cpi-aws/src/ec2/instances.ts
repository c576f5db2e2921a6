import { vmNotFound } from "@slipway/cpi-sdk/errors";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { filter } from "../api/query.ts";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { allPages } from "./pages.ts";
import { TAG, tagSet } from "./tags.ts";

export const instance = open({
  instanceId: v.string(),
  instanceState: open({ name: v.string() }),
  stateReason: v.optional(
    v.union([v.literal(""), open({ code: v.string(), message: v.optional(v.string()) })]),
  ),
  instanceType: v.string(),
  rootDeviceName: v.optional(v.string()),
  placement: open({ availabilityZone: v.string() }),
  blockDeviceMapping: v.optional(
    v.array(open({ deviceName: v.string(), ebs: v.optional(open({ volumeId: v.string() })) })),
  ),
  networkInterfaceSet: v.optional(
    v.array(
      open({
        networkInterfaceId: v.string(),
        macAddress: v.optional(v.string()),
        attachment: v.optional(
          open({
            attachmentId: v.string(),
            deviceIndex: v.string(),
            deleteOnTermination: v.optional(v.string()),
          }),
        ),
      }),
    ),
  ),
  tagSet,
});
export type Instance = v.InferOutput<typeof instance>;
const reservation = open({ instancesSet: v.array(instance) });

/** Cids of upstream's VMs too. Anything else is not asked for: EC2 would call it malformed. */
const INSTANCE_ID = /^i-[0-9a-f]{8,17}$/;
const ENDED = ["terminated", "shutting-down"];

export const isAlive = ({ instanceState }: Instance): boolean => !ENDED.includes(instanceState.name);

/** Returns the instance in any state; undefined if EC2 does not know it (any more). */
export async function describeInstance(cloud: AwsCloud, id: string): Promise<Instance | undefined> {
  if (!INSTANCE_ID.test(id)) return undefined;
  const found = await unlessRefused(
    cloud.ec2.call(open({ reservationSet: v.array(reservation) }), "DescribeInstances", { InstanceId: [id] }),
    "InvalidInstanceID.",
  );
  return found?.reservationSet.flatMap(({ instancesSet }) => instancesSet)[0];
}

/** Returns a VM that has not ended. */
export async function findVm(cloud: AwsCloud, id: string): Promise<Instance | undefined> {
  const found = await describeInstance(cloud, id);
  return found !== undefined && isAlive(found) ? found : undefined;
}

export async function mustFindVm(cloud: AwsCloud, id: string): Promise<Instance> {
  const found = await findVm(cloud, id);
  if (found === undefined) throw vmNotFound(id);
  return found;
}

async function instancesWith(
  cloud: AwsCloud,
  tags: Readonly<Record<string, string>>,
): Promise<readonly Instance[]> {
  const Filter = Object.entries(tags).map(([key, value]) => filter(`tag:${key}`, value));
  const rows = await allPages(cloud.ec2, "DescribeInstances", "reservationSet", reservation, { Filter });
  return rows.flatMap(({ instancesSet }) => instancesSet).filter(isAlive);
}

/** Returns the VM that an earlier run of the same request made. */
export const vmOfRequest = async (cloud: AwsCloud, token: string): Promise<Instance | undefined> =>
  (await instancesWith(cloud, { [TAG.token]: token }))[0];

export const vmsOfDirector = (cloud: AwsCloud): Promise<readonly Instance[]> =>
  instancesWith(cloud, { [TAG.kind]: "vm", [TAG.director]: cloud.directorUuid });

/** Volumes by device name, as the instance has them. */
export const volumesOf = (vm: Instance): ReadonlyMap<string, string> =>
  new Map(
    (vm.blockDeviceMapping ?? []).flatMap(({ deviceName, ebs }) =>
      ebs === undefined ? [] : [[deviceName, ebs.volumeId] as const],
    ),
  );
