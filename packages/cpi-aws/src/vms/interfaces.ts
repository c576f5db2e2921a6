import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { filter, type QueryParameters } from "../api/query.ts";
import { refusedAs, unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { TAG, type Tags, tagSet, tagSpecification, tagsIn } from "../ec2/tags.ts";
import { CONSISTENT_WITHIN_MS, waitFor } from "../ec2/wait.ts";
import { AddressTaken } from "../errors.ts";
import type { InterfacePlan } from "./networks.ts";

const networkInterface = open({
  networkInterfaceId: v.string(),
  status: v.optional(v.string()),
  macAddress: v.optional(v.string()),
  description: v.optional(v.string()),
  attachment: v.optional(open({ instanceId: v.optional(v.string()) })),
  tagSet,
});
type NetworkInterface = v.InferOutput<typeof networkInterface>;
const interfaces = open({ networkInterfaceSet: v.array(networkInterface) });

export interface MadeInterface {
  readonly id: string;
  readonly mac: string;
}

/** Addresses of an interface, as RunInstances and CreateNetworkInterface name them alike. */
export const addressesOf = (plan: InterfacePlan): QueryParameters => ({
  SubnetId: plan.subnet,
  PrivateIpAddress: plan.ipv4,
  Ipv6Addresses: plan.ipv6 === undefined ? undefined : [{ Ipv6Address: plan.ipv6 }],
  Ipv4Prefix: plan.ipv4Prefix === undefined ? undefined : [{ Ipv4Prefix: plan.ipv4Prefix }],
  Ipv6Prefix: plan.ipv6Prefix === undefined ? undefined : [{ Ipv6Prefix: plan.ipv6Prefix }],
});

/**
 * Makes an interface before the launch. VMs with several need that: their agents find networks by MAC address, which must
 * be in the user-data. The launch takes them over, and they go with the VM.
 */
export async function makeInterface(
  cloud: AwsCloud,
  plan: InterfacePlan,
  token: string,
  tags: Tags,
): Promise<MadeInterface> {
  const made = await withFreeAddress(cloud, plan, () =>
    cloud.ec2.call(open({ networkInterface }), "CreateNetworkInterface", {
      ...addressesOf(plan),
      SecurityGroupId: plan.groups,
      Description: `slipway ${plan.networks.join(" ")}`.slice(0, 255),
      ClientToken: token,
      TagSpecification: tagSpecification(["network-interface"], tags),
    }),
  );
  const { networkInterfaceId: id, macAddress } = made.networkInterface;
  if (macAddress !== undefined && macAddress !== "") return { id, mac: macAddress };
  let status = "unknown";
  return await waitFor(
    cloud,
    async () => {
      const found = await findInterface(cloud, id);
      status = found?.status ?? status;
      return found?.macAddress ? { id, mac: found.macAddress } : undefined;
    },
    {
      withinMs: CONSISTENT_WITHIN_MS,
      what: `network interface ${id}`,
      wanted: "available",
      is: () => status,
    },
  );
}

const findInterface = async (cloud: AwsCloud, id: string): Promise<NetworkInterface | undefined> =>
  (
    await unlessRefused(
      cloud.ec2.call(interfaces, "DescribeNetworkInterfaces", { NetworkInterfaceId: [id] }),
      "InvalidNetworkInterfaceID.",
    )
  )?.networkInterfaceSet[0];

/** An address stays taken for a moment after its VM ended. */
const ADDRESS_WITHIN_MS = 90_000;
const IN_USE = ["InvalidIPAddress.InUse", "PrivateIpAddressLimitExceeded"];

/**
 * Runs what takes the address of an interface. One that an interface of ours without a VM has, which a create_vm that was
 * killed may have left, is freed; others are waited for, and named at the end.
 */
export async function withFreeAddress<T>(
  cloud: AwsCloud,
  plan: InterfacePlan,
  work: () => Promise<T>,
): Promise<T> {
  let holder = "another interface";
  return await waitFor(
    cloud,
    async () => {
      try {
        return { done: await work() };
      } catch (error) {
        if (!refusedAs(error, ...IN_USE)) throw error;
        const found = await holderOf(cloud, plan);
        holder = found === undefined ? holder : describe(found);
        const instance = found?.attachment?.instanceId;
        // A VM that runs keeps its address: waiting would not help.
        if (found !== undefined && found.status === "in-use" && !(await isEnding(cloud, instance)))
          throw taken(plan, holder);
        if (found !== undefined && isLeftOver(cloud, found))
          await deleteInterface(cloud, found.networkInterfaceId);
        return undefined;
      }
    },
    {
      withinMs: ADDRESS_WITHIN_MS,
      what: `the address ${plan.ipv4 ?? plan.ipv6}`,
      wanted: "free",
      is: () => `of ${holder}`,
    },
  ).then(({ done }) => done);
}

const taken = (plan: InterfacePlan, holder: string) =>
  AddressTaken({ ip: plan.ipv4 ?? plan.ipv6 ?? "", subnet: plan.subnet, holder });

const describe = ({ networkInterfaceId: id, attachment, description }: NetworkInterface): string =>
  attachment?.instanceId
    ? `${id} of ${attachment.instanceId}`
    : `${id}${description ? ` (${description})` : ""}`;

const states = open({
  reservationSet: v.array(
    open({ instancesSet: v.array(open({ instanceState: open({ name: v.string() }) })) }),
  ),
});

async function isEnding(cloud: AwsCloud, id: string | undefined): Promise<boolean> {
  if (!id) return false;
  const found = await unlessRefused(
    cloud.ec2.call(states, "DescribeInstances", { InstanceId: [id] }),
    "InvalidInstanceID.",
  );
  const state = found?.reservationSet[0]?.instancesSet[0]?.instanceState.name;
  return state === undefined || state === "shutting-down" || state === "terminated";
}

const isLeftOver = (cloud: AwsCloud, { status, tagSet: set }: NetworkInterface): boolean =>
  status === "available" && tagsIn(set)[TAG.director] === cloud.directorUuid;

async function holderOf(cloud: AwsCloud, plan: InterfacePlan): Promise<NetworkInterface | undefined> {
  const address =
    plan.ipv4 !== undefined
      ? filter("addresses.private-ip-address", plan.ipv4)
      : filter("ipv6-addresses.ipv6-address", plan.ipv6 ?? "");
  const Filter = [filter("subnet-id", plan.subnet), address];
  return (await cloud.ec2.call(interfaces, "DescribeNetworkInterfaces", { Filter })).networkInterfaceSet[0];
}

/** Deletes the interfaces of a request that no VM took over. Attached ones go with their VM. */
export async function deleteInterfacesOf(cloud: AwsCloud, token: string): Promise<void> {
  const Filter = [filter(`tag:${TAG.token}`, token)];
  const found = await cloud.ec2.call(interfaces, "DescribeNetworkInterfaces", { Filter });
  for (const { networkInterfaceId, status } of found.networkInterfaceSet)
    if (status !== "in-use") await deleteInterface(cloud, networkInterfaceId);
}

export const deleteInterface = (cloud: AwsCloud, id: string): Promise<unknown> =>
  unlessRefused(
    cloud.ec2.call(v.unknown(), "DeleteNetworkInterface", { NetworkInterfaceId: id }),
    "InvalidNetworkInterfaceID.",
    "InvalidParameterValue",
    "InvalidNetworkInterface.InUse",
  );
