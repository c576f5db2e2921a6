import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import type { Instance } from "../ec2/instances.ts";
import { AwsMissing } from "../errors.ts";
import type { VmProperties } from "../properties.ts";
import type { VipPlan } from "./networks.ts";

const addresses = open({ addressesSet: v.array(open({ allocationId: v.optional(v.string()) })) });

/** Interfaces in the order of the networks they were made for. */
const interfacesOf = ({ networkInterfaceSet = [] }: Instance) =>
  [...networkInterfaceSet].sort(
    (one, other) => Number(one.attachment?.deviceIndex ?? 0) - Number(other.attachment?.deviceIndex ?? 0),
  );

/** Gives the VM its elastic addresses. An address moves from the VM that had it, as when an instance is recreated. */
export async function associateAddresses(
  cloud: AwsCloud,
  vm: Instance,
  vips: readonly VipPlan[],
): Promise<void> {
  for (const { ip, at } of vips) {
    const missing = () => AwsMissing({ kind: "elastic IP", name: ip, where: `region ${cloud.region}` });
    const found = await unlessRefused(
      cloud.ec2.call(addresses, "DescribeAddresses", { PublicIp: [ip] }),
      "InvalidAddress.NotFound",
    );
    const id = found?.addressesSet[0]?.allocationId;
    const target = interfacesOf(vm)[at]?.networkInterfaceId;
    if (id === undefined || target === undefined) throw missing();
    await cloud.ec2.call(v.unknown(), "AssociateAddress", {
      ...{ AllocationId: id, NetworkInterfaceId: target, AllowReassociation: true },
    });
  }
}

/** Lets the VM route for others: routes that lead to it, and packets that are not its own. */
export async function setUpRouting(cloud: AwsCloud, vm: Instance, properties: VmProperties): Promise<void> {
  if (properties.source_dest_check === false)
    for (const { networkInterfaceId } of interfacesOf(vm))
      await cloud.ec2.call(v.unknown(), "ModifyNetworkInterfaceAttribute", {
        ...{ NetworkInterfaceId: networkInterfaceId, SourceDestCheck: { Value: false } },
      });
  const target = interfacesOf(vm)[0]?.networkInterfaceId;
  for (const { table_id: table, destination } of properties.advertised_routes ?? []) {
    const route = {
      RouteTableId: table,
      [destination.includes(":") ? "DestinationIpv6CidrBlock" : "DestinationCidrBlock"]: destination,
      NetworkInterfaceId: target,
    };
    const replaced = await unlessRefused(
      cloud.ec2.call(v.unknown(), "ReplaceRoute", route).then(() => true),
      "InvalidRoute.NotFound",
      "InvalidParameterValue",
    );
    if (replaced === undefined)
      await unlessRefused(cloud.ec2.call(v.unknown(), "CreateRoute", route), "RouteAlreadyExists");
  }
}

/** Makes interfaces that were there before the launch end with the VM. */
export async function endInterfacesWith(cloud: AwsCloud, vm: Instance): Promise<void> {
  for (const { networkInterfaceId, attachment } of interfacesOf(vm)) {
    if (attachment === undefined || attachment.deleteOnTermination === "true") continue;
    await cloud.ec2.call(v.unknown(), "ModifyNetworkInterfaceAttribute", {
      NetworkInterfaceId: networkInterfaceId,
      Attachment: { AttachmentId: attachment.attachmentId, DeleteOnTermination: true },
    });
  }
}
