import { defineError } from "@slipway/kernel/errors";

export const NoAnswer = defineError<{ doing: string; endpoint: string; why: string }>({
  code: "AWS-001",
  kind: "outside",
  message: (p) => `${p.doing}: no answer of AWS from ${p.endpoint}: ${p.why}`,
  next: "See that the machine of the CPI reaches the endpoint (region, ec2_endpoint, elb_endpoint, proxy, VPC endpoint), then repeat: a repeat finds what was made.",
});

export const BadReply = defineError<{ doing: string; problems: readonly string[] }>({
  code: "AWS-002",
  kind: "outside",
  message: (p) => `${p.doing}: invalid response of AWS: ${p.problems.join("; ")}`,
  next: "See that the endpoint leads to AWS, and not to a proxy or something else.",
});

export interface Refusal {
  readonly doing: string;
  readonly code: string;
  readonly said: string;
}

export const AwsRefused = defineError<Refusal>({
  code: "AWS-003",
  kind: "outside",
  message: (p) => `${p.doing}: AWS answers ${p.code}: ${p.said}`,
  next: "Look the code up in AWS's list of EC2 error codes, correct what it names, and repeat.",
});

export const NotPermitted = defineError<Refusal & { permission: string }>({
  code: "AWS-004",
  kind: "operator",
  message: (p) =>
    `${p.doing}: the CPI may not do this: it lacks the IAM permission ${p.permission} (${p.code}: ${p.said})`,
  next: "Allow {permission} in the policy of the CPI's user or role; docs/use-aws.md has the whole policy. An encoded message is read with `aws sts decode-authorization-message`.",
});

export const BadCredentials = defineError<Refusal>({
  code: "AWS-005",
  kind: "operator",
  message: (p) => `${p.doing}: AWS does not accept the credentials: ${p.code}: ${p.said}`,
  next: "Correct access_key_id and secret_access_key (or the role) in the CPI's configuration, and see that the clock of its machine is right.",
});

export const ExpiredCredentials = defineError<Refusal>({
  code: "AWS-006",
  kind: "operator",
  message: (p) => `${p.doing}: the credentials have expired: ${p.code}: ${p.said}`,
  next: "Give the CPI new temporary credentials with their session_token, or a role that it can assume again by itself.",
});

export const Throttled = defineError<Refusal & { tries: number }>({
  code: "AWS-007",
  kind: "outside",
  message: (p) => `${p.doing}: AWS limits the rate of requests (${p.code}), also after ${p.tries} tries`,
  next: "Repeat later, lower the number of workers of the Director, or ask AWS for a higher rate.",
});

export const NoCapacity = defineError<Refusal>({
  code: "AWS-008",
  kind: "outside",
  message: (p) => `${p.doing}: AWS has no capacity for this now: ${p.code}: ${p.said}`,
  next: "Repeat later, or use another instance type or availability zone in the cloud config.",
});

export const QuotaReached = defineError<Refusal>({
  code: "AWS-009",
  kind: "operator",
  message: (p) => `${p.doing}: a quota of the account is reached: ${p.code}: ${p.said}`,
  next: "Delete what is not needed, or ask for a higher quota in AWS's Service Quotas.",
});

export const NoCredentials = defineError<{ problems: readonly string[] }>({
  code: "AWS-010",
  kind: "operator",
  message: (p) => `no credentials were found: ${p.problems.join("; ")}`,
  next: "Give access_key_id and secret_access_key with credentials_source static, or credentials_source env_or_profile with one of: environment, web identity, shared file, instance profile.",
});

export const BadAwsProperties = defineError<{ what: string; problems: readonly string[] }>({
  code: "AWS-011",
  kind: "operator",
  message: (p) => `the properties of ${p.what} are not usable: ${p.problems.join("; ")}`,
  next: "Correct them in the cloud config, the manifest or stemcell.MF; docs/use-aws.md has a table of all keys.",
});

export const UnsupportedKey = defineError<{ what: string; key: string; why: string }>({
  code: "AWS-012",
  kind: "operator",
  message: (p) => `${p.what}: this CPI refuses ${p.key}: ${p.why}`,
  next: "Take the key out; docs/use-aws.md has a table of all keys, and what to do instead.",
});

export const WrongZone = defineError<{ what: string; zones: readonly string[] }>({
  code: "AWS-013",
  kind: "operator",
  message: (p) => `${p.what} must be in one availability zone, and they are not: ${p.zones.join("; ")}`,
  next: "Use a subnet and an availability_zone of the disk's zone. To move a disk, let the Director copy it: recreate the instance with a new disk.",
});

export const AddressTaken = defineError<{ ip: string; subnet: string; holder: string }>({
  code: "AWS-014",
  kind: "operator",
  message: (p) => `the address ${p.ip} in ${p.subnet} is taken by ${p.holder}`,
  next: "Free the address, or reserve it in the cloud config. Nothing was left behind.",
});

export const LaunchEnded = defineError<{ instance: string; why: string }>({
  code: "AWS-015",
  kind: "outside",
  message: (p) => `the instance ${p.instance} ended while it started: ${p.why}`,
  next: "Client.VolumeLimitExceeded is a quota; Client.InternalError most often a KMS key that the launch may not use. Else repeat, or use another instance type or zone.",
});

export const DiskTaken = defineError<{ disk: string; holder: string }>({
  code: "AWS-016",
  kind: "operator",
  message: (p) => `disk '${p.disk}' is attached to ${p.holder}`,
  next: "Detach it there first, or delete that VM. A disk is never taken from a VM.",
});

export const UserDataTooLarge = defineError<{ bytes: number }>({
  code: "AWS-017",
  kind: "operator",
  message: (p) => `the settings of the agent have ${p.bytes} bytes, and EC2 takes 16384 of user-data`,
  next: "Shorten what the manifest puts into env (certificates, authorized keys, tags), or use the registry with a stemcell of API version 1.",
});

export const NoDeviceName = defineError<{ vm: string }>({
  code: "AWS-018",
  kind: "operator",
  message: (p) => `VM '${p.vm}' has no device name left for another disk: /dev/sdf to /dev/sdp are in use`,
  next: "Detach a disk of this VM first. EC2 recommends no other names for volumes.",
});

export const StateNotReached = defineError<{ what: string; wanted: string; is: string }>({
  code: "AWS-019",
  kind: "outside",
  message: (p) => `${p.what} did not become ${p.wanted}: it is ${p.is}`,
  next: "Look at it in the AWS console, where the reason stands beside the state; then repeat.",
});

export const NoImage = defineError<{ region: string; known: readonly string[] }>({
  code: "AWS-020",
  kind: "operator",
  message: (p) =>
    `the light stemcell has no image for the region ${p.region}; it has one for ${p.known.join(", ") || "none"}`,
  next: "Upload a stemcell that names an AMI of this region, or copy the image and add it to the stemcell's cloud_properties.",
});

export const AwsMissing = defineError<{ kind: string; name: string; where: string }>({
  code: "AWS-021",
  kind: "operator",
  message: (p) => `the ${p.kind} '${p.name}' is not there${p.where === "" ? "" : ` (${p.where})`}`,
  next: "Correct its name in the cloud config, or make it in the region of the CPI.",
});
