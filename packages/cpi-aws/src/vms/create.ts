import { stemcellNotFound } from "@slipway/cpi-sdk/errors";
import { withMacs } from "@slipway/cpi-sdk/networks";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { QueryParameters } from "../api/query.ts";
import type { AwsCloud } from "../cloud.ts";
import { findImage } from "../ec2/images.ts";
import { instanceTypeFacts } from "../ec2/instance-types.ts";
import { vmOfRequest } from "../ec2/instances.ts";
import type { Tags } from "../ec2/tags.ts";
import { mustFindVolume } from "../ec2/volumes.ts";
import type { VmProperties } from "../properties.ts";
import { imageIdOf } from "../stemcells/light.ts";
import { blockDevices } from "./block-devices.ts";
import { addressesOf, makeInterface, withFreeAddress } from "./interfaces.ts";
import { launch } from "./launch.ts";
import { registerWithLoadBalancers } from "./load-balancers.ts";
import { type NetworkPlan, planNetworks } from "./networks.ts";
import { associateAddresses, endInterfacesWith, setUpRouting } from "./routing.ts";

export interface NewVm {
  readonly token: string;
  readonly stemcellCid: string;
  readonly properties: VmProperties;
  readonly networks: Networks;
  readonly diskCids: readonly string[];
  readonly tags: Tags;
  /** Called once, with what the agent must know. */
  readonly userData: (networks: Networks, disks: Disks) => string;
}

export interface CreatedInstance {
  readonly cid: string;
  readonly networks: Networks;
}

/**
 * Makes a VM, or finishes the one that an earlier run of the request began. With one interface, instance, volumes and
 * interface are made by one action; nothing is left if the CPI is killed before it. What follows is harmless twice.
 */
export async function createVm(cloud: AwsCloud, vm: NewVm): Promise<CreatedInstance> {
  const image = await findImage(cloud, imageIdOf(vm.stemcellCid));
  if (image === undefined) throw stemcellNotFound(vm.stemcellCid);
  const plan = await planNetworks(cloud, vm.networks, vm.properties, await zonesOf(cloud, vm.diskCids));
  const facts = await instanceTypeFacts(cloud, vm.properties.instance_type);
  const devices = blockDevices(vm.properties, image, facts, cloud.config);
  const before = await vmOfRequest(cloud, vm.token);
  const { interfaces, networks } = await interfacesFor(cloud, vm, plan, before === undefined);
  const userData = vm.userData(networks, devices.disks);
  const made =
    before !== undefined && before.instanceState.name !== "pending"
      ? before
      : await withFreeAddress(cloud, plan.interfaces[0] as NetworkPlan["interfaces"][0], () =>
          launch(cloud, {
            ...{
              token: vm.token,
              image: image.imageId,
              zone: plan.zone,
              userData,
              properties: vm.properties,
            },
            ...{ mappings: devices.mappings, interfaces, tags: vm.tags },
          }),
        );
  await endInterfacesWith(cloud, made);
  await setUpRouting(cloud, made, vm.properties);
  await associateAddresses(cloud, made, plan.vips);
  await registerWithLoadBalancers(cloud, made.instanceId, vm.properties);
  return { cid: made.instanceId, networks };
}

async function zonesOf(cloud: AwsCloud, disks: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const zones = new Map<string, string>();
  for (const disk of disks) zones.set(disk, (await mustFindVolume(cloud, disk)).availabilityZone);
  return zones;
}

/** The interfaces of the launch, and the networks with what the agent needs to find them. Addresses come by DHCP. */
async function interfacesFor(
  cloud: AwsCloud,
  vm: NewVm,
  plan: NetworkPlan,
  fresh: boolean,
): Promise<{ readonly interfaces: readonly QueryParameters[]; readonly networks: Networks }> {
  const networks: Networks = Object.fromEntries(
    Object.entries(vm.networks).map(([name, network]) => [
      name,
      network.type === "vip" ? network : { ...network, use_dhcp: true },
    ]),
  );
  const [first, ...others] = plan.interfaces;
  const publicAddress = vm.properties.auto_assign_public_ip ? true : undefined;
  if (first !== undefined && others.length === 0 && first.networks.length === 1)
    return {
      networks,
      interfaces: [
        {
          ...{ DeviceIndex: 0, ...addressesOf(first), SecurityGroupId: first.groups },
          ...{ DeleteOnTermination: true, AssociatePublicIpAddress: publicAddress },
        },
      ],
    };
  const macs: Record<string, string> = {};
  const interfaces: QueryParameters[] = [];
  for (const [at, one] of plan.interfaces.entries()) {
    // The client token leads a repeat to the interface of the first run.
    const made = await makeInterface(cloud, one, `${vm.token}-n${at}`, vm.tags);
    for (const name of one.networks) macs[name] = made.mac;
    interfaces.push({ DeviceIndex: at, NetworkInterfaceId: made.id });
  }
  if (publicAddress && fresh)
    cloud.warn("auto_assign_public_ip is for VMs with one interface; give this one a vip network");
  return { interfaces, networks: withMacs(networks, macs) };
}
