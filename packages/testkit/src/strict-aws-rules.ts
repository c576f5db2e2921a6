import { isInRange } from "@slipway/kernel/ip-address";

/** Parameters of a request, and what moto has. */
export interface RuleInput {
  readonly get: (name: string) => string | undefined;
  /** Values of `Name.1`, `Name.2` and so on; `under` is what follows the number. */
  readonly list: (name: string, under?: string) => readonly string[];
  /** Asks moto itself, without rules. */
  readonly ask: (action: string, parameters: Readonly<Record<string, string>>) => Promise<string>;
}

export interface Refused {
  readonly code: string;
  readonly message: string;
}

export interface StrictRule {
  readonly name: string;
  /** Title of the page of AWS's documentation that says so. */
  readonly page: string;
  readonly actions: readonly string[];
  readonly check: (input: RuleInput) => Promise<Refused | undefined>;
}

const IDS = /^(i|vol|ami|snap|eni|subnet|sg|rtb|eipalloc)-(?:[0-9a-f]{8}|[0-9a-f]{17})$/;
const refuse = (code: string, message: string): Refused => ({ code, message });
export const allOf = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) => text);
const one = (xml: string, name: string): string | undefined => allOf(xml, name)[0];

const MALFORMED: Readonly<Record<string, string>> = {
  InstanceId: "InvalidInstanceID.Malformed",
  ImageId: "InvalidAMIID.Malformed",
  VolumeId: "InvalidParameterValue",
  SnapshotId: "InvalidParameterValue",
  NetworkInterfaceId: "InvalidNetworkInterfaceID.Malformed",
  SubnetId: "InvalidSubnetID.Malformed",
};

/** Least and most GiB of a volume type. */
const SIZES: Readonly<Record<string, readonly [number, number]>> = {
  gp2: [1, 16_384],
  gp3: [1, 65_536],
  io1: [4, 16_384],
  io2: [4, 65_536],
  st1: [125, 16_384],
  sc1: [125, 16_384],
  standard: [1, 1_024],
};

async function interfaceIn(ask: RuleInput["ask"], subnet: string, ip: string): Promise<string> {
  return await ask("DescribeNetworkInterfaces", {
    ...{ "Filter.1.Name": "subnet-id", "Filter.1.Value.1": subnet },
    ...{ "Filter.2.Name": "addresses.private-ip-address", "Filter.2.Value.1": ip },
  });
}

async function addressTrouble(input: RuleInput, subnet: string | undefined, ip: string | undefined) {
  if (subnet === undefined || ip === undefined) return undefined;
  const range = one(await input.ask("DescribeSubnets", { "SubnetId.1": subnet }), "cidrBlock");
  if (range !== undefined && !isInRange(range, ip))
    return refuse("InvalidParameterValue", "Address does not fall within the subnet's address range");
  if (one(await interfaceIn(input.ask, subnet, ip), "networkInterfaceId") !== undefined)
    return refuse("InvalidIPAddress.InUse", "Address is in use.");
  return undefined;
}

/** Rules for requests that EC2 refuses and moto takes. */
export const STRICT_RULES: readonly StrictRule[] = [
  {
    name: "malformed ids",
    page: "Error codes for the Amazon EC2 API",
    actions: [],
    check: async ({ get, list }) => {
      for (const [name, code] of Object.entries(MALFORMED))
        for (const id of [get(name), ...list(name)])
          if (id !== undefined && !IDS.test(id)) return refuse(code, `Invalid id: "${id}"`);
      return undefined;
    },
  },
  {
    name: "user data of more than 16 KB",
    page: "Run commands when you launch an EC2 instance with user data input",
    actions: ["RunInstances"],
    check: async ({ get }) =>
      Buffer.from(get("UserData") ?? "", "base64").length > 16_384
        ? refuse("InvalidParameterValue", "User data is limited to 16384 bytes")
        : undefined,
  },
  {
    name: "an instance type that does not exist",
    page: "RunInstances - Amazon Elastic Compute Cloud",
    actions: ["RunInstances"],
    check: async ({ get, ask }) => {
      const type = get("InstanceType") ?? "";
      const found = await ask("DescribeInstanceTypes", { "InstanceType.1": type });
      return one(found, "instanceType") === type
        ? undefined
        : refuse("InvalidParameterValue", `Invalid value '${type}' for InstanceType.`);
    },
  },
  {
    name: "an image that does not exist",
    page: "RunInstances - Amazon Elastic Compute Cloud",
    actions: ["RunInstances"],
    check: async ({ get, ask }) => {
      const image = get("ImageId") ?? "";
      return one(await ask("DescribeImages", { "ImageId.1": image }), "imageId") === image
        ? undefined
        : refuse("InvalidAMIID.NotFound", `The image id '[${image}]' does not exist`);
    },
  },
  {
    name: "a zone that is not the subnet's",
    page: "Placement - Amazon Elastic Compute Cloud",
    actions: ["RunInstances"],
    check: async ({ get, ask }) => {
      const [zone, subnet] = [get("Placement.AvailabilityZone"), get("NetworkInterface.1.SubnetId")];
      if (zone === undefined || subnet === undefined) return undefined;
      const is = one(await ask("DescribeSubnets", { "SubnetId.1": subnet }), "availabilityZone");
      return is === zone
        ? undefined
        : refuse("InvalidParameterValue", `The subnet is in ${is}, the instance in ${zone}`);
    },
  },
  {
    name: "addresses outside of the subnet, or in use",
    page: "Multiple IP addresses for your EC2 instances",
    actions: ["RunInstances", "CreateNetworkInterface"],
    check: async (input) => {
      const prefix = input.get("SubnetId") === undefined ? "NetworkInterface.1." : "";
      return await addressTrouble(
        input,
        input.get(`${prefix}SubnetId`),
        input.get(`${prefix}PrivateIpAddress`),
      );
    },
  },
  {
    name: "an interface that another instance has",
    page: "Attach a network interface to an EC2 instance",
    actions: ["RunInstances"],
    check: async ({ list, ask }) => {
      for (const id of list("NetworkInterface", "NetworkInterfaceId")) {
        const found = await ask("DescribeNetworkInterfaces", { "NetworkInterfaceId.1": id });
        if (allOf(found, "status").includes("in-use"))
          return refuse("InvalidNetworkInterface.InUse", `Interface: [${id}] in use.`);
      }
      return undefined;
    },
  },
  {
    name: "both interfaces and groups or subnet of the instance",
    page: "RunInstances - Amazon Elastic Compute Cloud",
    actions: ["RunInstances"],
    check: async ({ get, list }) =>
      list("NetworkInterface", "DeviceIndex").length > 0 &&
      (get("SubnetId") !== undefined || list("SecurityGroupId").length > 0)
        ? refuse("InvalidParameterCombination", "Network interfaces and an instance-level subnet")
        : undefined,
  },
  {
    name: "deleting an interface on termination that the launch does not make, and a public address with it",
    page: "InstanceNetworkInterfaceSpecification - Amazon Elastic Compute Cloud",
    actions: ["RunInstances"],
    check: async ({ list }) =>
      list("NetworkInterface", "NetworkInterfaceId").length > 0 &&
      (list("NetworkInterface", "DeleteOnTermination").includes("true") ||
        list("NetworkInterface", "AssociatePublicIpAddress").length > 0)
        ? refuse("InvalidParameterCombination", "Only new network interfaces take this")
        : undefined,
  },
  {
    name: "sizes that the volume type does not have",
    page: "Amazon EBS volume types",
    actions: ["CreateVolume"],
    check: async ({ get }) => {
      const type = get("VolumeType") ?? "gp2";
      const size = Number(get("Size"));
      const [least, most] = SIZES[type] ?? [1, 0];
      return size >= least && size <= most
        ? undefined
        : refuse(
            "InvalidParameterValue",
            `Volume of ${size}GiB is not valid for ${type}; ${least} to ${most}`,
          );
    },
  },
  {
    name: "attaching a volume twice, across zones, with a taken name, or to an instance that does not run",
    page: "Attach an Amazon EBS volume to an Amazon EC2 instance",
    actions: ["AttachVolume"],
    check: async ({ get, ask }) => {
      const [volume = "", vm = "", device = ""] = ["VolumeId", "InstanceId", "Device"].map((name) =>
        get(name),
      );
      const disk = await ask("DescribeVolumes", { "VolumeId.1": volume });
      if (disk.includes("<Errors>")) return undefined;
      if (allOf(disk, "instanceId").length > 0)
        return refuse("VolumeInUse", `${volume} is already attached to an instance`);
      const machine = await ask("DescribeInstances", { "InstanceId.1": vm });
      if (machine.includes("<Errors>")) return undefined;
      if (one(disk, "availabilityZone") !== one(machine, "availabilityZone"))
        return refuse(
          "InvalidVolume.ZoneMismatch",
          `The volume '${volume}' is not in the same availability zone`,
        );
      if (!/<name>(running|stopped)<\/name>/.test(machine))
        return refuse("IncorrectState", `Instance '${vm}' is not 'running'.`);
      if (allOf(machine, "deviceName").includes(device))
        return refuse(
          "InvalidParameterValue",
          `Invalid value '${device}' for unixDevice. Attachment point ${device} is already in use`,
        );
      return undefined;
    },
  },
  {
    name: "detaching a volume from an instance that does not have it",
    page: "DetachVolume - Amazon Elastic Compute Cloud",
    actions: ["DetachVolume"],
    check: async ({ get, ask }) => {
      const volume = get("VolumeId") ?? "";
      const holders = allOf(await ask("DescribeVolumes", { "VolumeId.1": volume }), "instanceId");
      if (holders.length === 0)
        return refuse("IncorrectState", `Volume '${volume}' is in the 'available' state.`);
      return holders.includes(get("InstanceId") ?? "")
        ? undefined
        : refuse("InvalidAttachment.NotFound", "The volume is not attached to this instance");
    },
  },
  {
    name: "volumes that shrink",
    page: "Modify an Amazon EBS volume using Elastic Volumes operations",
    actions: ["ModifyVolume"],
    check: async ({ get, ask }) => {
      const size = get("Size");
      const now = one(await ask("DescribeVolumes", { "VolumeId.1": get("VolumeId") ?? "" }), "size");
      return size !== undefined && Number(size) < Number(now)
        ? refuse("InvalidParameterValue", "New size cannot be smaller than existing size")
        : undefined;
    },
  },
  {
    name: "an elastic address that another interface has, unless reassociation is allowed",
    page: "AssociateAddress - Amazon Elastic Compute Cloud",
    actions: ["AssociateAddress"],
    check: async ({ get, ask }) => {
      const found = await ask("DescribeAddresses", { "AllocationId.1": get("AllocationId") ?? "" });
      const held = allOf(found, "associationId").some((id) => id !== "");
      return held && get("AllowReassociation") !== "true"
        ? refuse("Resource.AlreadyAssociated", "The address is associated")
        : undefined;
    },
  },
  {
    name: "tags that are too long or AWS's own",
    page: "Tag your Amazon EC2 resources",
    actions: [
      "CreateTags",
      "RunInstances",
      "CreateVolume",
      "CreateSnapshot",
      "CreateNetworkInterface",
      "CopyImage",
    ],
    check: async ({ list }) => {
      const keys = [
        ...list("Tag", "Key"),
        ...[1, 2, 3].flatMap((at) => list(`TagSpecification.${at}.Tag`, "Key")),
      ];
      const values = [
        ...list("Tag", "Value"),
        ...[1, 2, 3].flatMap((at) => list(`TagSpecification.${at}.Tag`, "Value")),
      ];
      if (keys.some((key) => key === "" || key.length > 128 || key.toLowerCase().startsWith("aws:")))
        return refuse("InvalidParameterValue", "Tag keys: 1 to 128 characters, and not aws:");
      return values.some((value) => value.length > 256)
        ? refuse("InvalidParameterValue", "Tag values: at most 256 characters")
        : undefined;
    },
  },
  {
    name: "names of load balancers and filters that are empty",
    page: "Query requests for Amazon EC2",
    actions: [],
    check: async ({ list }) =>
      list("Filter", "Value.1").some((value) => value === "")
        ? refuse("InvalidParameterValue", "A filter has an empty value")
        : undefined,
  },
];

/** Parameters by action, from the page of each action in the Amazon EC2 API Reference: EC2 answers others with UnknownParameter. */
const KNOWN: Readonly<Record<string, string>> = {
  RunInstances:
    "MinCount MaxCount ImageId InstanceType KeyName ClientToken UserData Placement IamInstanceProfile MetadataOptions BlockDeviceMapping NetworkInterface InstanceMarketOptions TagSpecification SubnetId SecurityGroupId",
  DescribeInstances: "InstanceId Filter MaxResults NextToken",
  TerminateInstances: "InstanceId",
  RebootInstances: "InstanceId",
  StartInstances: "InstanceId",
  DescribeInstanceAttribute: "InstanceId Attribute",
  GetConsoleOutput: "InstanceId Latest",
  DescribeInstanceTypes: "InstanceType",
  CreateVolume:
    "AvailabilityZone Size VolumeType Iops Throughput Encrypted KmsKeyId ClientToken TagSpecification",
  DescribeVolumes: "VolumeId Filter MaxResults NextToken",
  DeleteVolume: "VolumeId",
  AttachVolume: "VolumeId InstanceId Device",
  DetachVolume: "VolumeId InstanceId",
  ModifyVolume: "VolumeId Size VolumeType Iops Throughput",
  DescribeVolumesModifications: "VolumeId",
  CreateSnapshot: "VolumeId Description TagSpecification",
  DescribeSnapshots: "Owner Filter SnapshotId",
  DeleteSnapshot: "SnapshotId",
  CreateTags: "ResourceId Tag",
  DescribeImages: "ImageId Owner Filter",
  CopyImage: "SourceRegion SourceImageId Encrypted KmsKeyId Name ClientToken TagSpecification",
  DeregisterImage: "ImageId",
  DescribeSubnets: "SubnetId",
  DescribeSecurityGroups: "Filter",
  DescribeAvailabilityZones: "Filter",
  CreateNetworkInterface:
    "SubnetId PrivateIpAddress Ipv6Addresses Ipv4Prefix Ipv6Prefix SecurityGroupId Description ClientToken TagSpecification",
  DescribeNetworkInterfaces: "NetworkInterfaceId Filter",
  DeleteNetworkInterface: "NetworkInterfaceId",
  ModifyNetworkInterfaceAttribute: "NetworkInterfaceId SourceDestCheck Attachment",
  DescribeAddresses: "PublicIp",
  AssociateAddress: "AllocationId NetworkInterfaceId AllowReassociation",
  CreateRoute: "RouteTableId DestinationCidrBlock DestinationIpv6CidrBlock NetworkInterfaceId",
  ReplaceRoute: "RouteTableId DestinationCidrBlock DestinationIpv6CidrBlock NetworkInterfaceId",
};

/** Returns the name of a parameter that the action does not have. */
export function unknownParameter(action: string, names: Iterable<string>): string | undefined {
  const known = KNOWN[action]?.split(" ");
  if (known === undefined) return undefined;
  return [...names].find((name) => !["Action", "Version", ...known].includes(name.replace(/\..*/, "")));
}
