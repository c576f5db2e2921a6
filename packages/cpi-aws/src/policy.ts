/** Statement of the least policy under which the CPI works, with the reason of each group of actions. */
export interface PolicyStatement {
  readonly sid: string;
  readonly actions: readonly string[];
  readonly why: string;
}

export const POLICY: readonly PolicyStatement[] = [
  {
    sid: "Look",
    why: "every method; none of these can be limited to single resources",
    actions: [
      ...["DescribeAddresses", "DescribeAvailabilityZones", "DescribeImages", "DescribeInstanceAttribute"],
      ...[
        "DescribeInstanceTypes",
        "DescribeInstances",
        "DescribeNetworkInterfaces",
        "DescribeSecurityGroups",
      ],
      ...["DescribeSnapshots", "DescribeSubnets", "DescribeVolumes", "DescribeVolumesModifications"],
      "GetConsoleOutput",
    ].map((action) => `ec2:${action}`),
  },
  {
    sid: "Vms",
    why: "create_vm, delete_vm, reboot_vm, set_vm_metadata",
    actions: [
      ...[
        "CreateNetworkInterface",
        "CreateTags",
        "DeleteNetworkInterface",
        "ModifyNetworkInterfaceAttribute",
      ],
      ...["RebootInstances", "RunInstances", "StartInstances", "TerminateInstances"],
    ].map((action) => `ec2:${action}`),
  },
  {
    sid: "Disks",
    why: "disks and their snapshots",
    actions: [
      ...["AttachVolume", "CreateSnapshot", "CreateVolume", "DeleteSnapshot", "DeleteVolume"],
      ...["DetachVolume", "ModifyVolume"],
    ].map((action) => `ec2:${action}`),
  },
  {
    sid: "EncryptedStemcells",
    why: "only with `encrypted` stemcells; with a key of your own also kms:CreateGrant, kms:Decrypt, kms:DescribeKey, kms:GenerateDataKeyWithoutPlaintext and kms:ReEncrypt* on it",
    actions: ["ec2:CopyImage", "ec2:DeregisterImage"],
  },
  {
    sid: "ElasticAddresses",
    why: "only with vip networks",
    actions: ["ec2:AssociateAddress"],
  },
  {
    sid: "Routes",
    why: "only with `advertised_routes`",
    actions: ["ec2:CreateRoute", "ec2:ReplaceRoute"],
  },
  {
    sid: "LoadBalancers",
    why: "only with `elbs` and `lb_target_groups`",
    actions: ["DescribeTargetGroups", "RegisterInstancesWithLoadBalancer", "RegisterTargets"].map(
      (action) => `elasticloadbalancing:${action}`,
    ),
  },
];

/** Actions that IAM checks without an API call of that name. */
const IMPLIED: readonly PolicyStatement[] = [
  {
    sid: "InstanceProfiles",
    why: "only with `iam_instance_profile`; limit it to the roles of your instance profiles",
    actions: ["iam:PassRole"],
  },
];

/** The whole policy, as IAM takes it. */
export const policyDocument = (): object => ({
  Version: "2012-10-17",
  Statement: [...POLICY, ...IMPLIED].map(({ sid, actions }) => ({
    ...{ Sid: sid, Effect: "Allow", Action: actions, Resource: "*" },
  })),
});

export const policyRows = (): readonly PolicyStatement[] => [...POLICY, ...IMPLIED];

/** Actions that the CPI calls. */
export const POLICY_ACTIONS: readonly string[] = POLICY.flatMap(({ actions }) => actions);
