import { check } from "@slipway/protocol/schema/check";
import { type JsonObject, mapOf, open } from "@slipway/protocol/schema/json";
import { doc } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { BadAwsProperties, UnsupportedKey } from "./errors.ts";

/** Manifests write numbers also as text, and switches also as null. */
const amount = (what: string) => v.nullish(v.pipe(v.number(), v.minValue(1, `${what} must be at least 1`)));
const flag = () => v.nullish(v.boolean());
const name = (what: string) => v.nullish(v.pipe(v.string(), v.nonEmpty(`${what} must not be empty`)));
const names = () => v.nullish(v.array(v.pipe(v.string(), v.nonEmpty("a name must not be empty"))));
const tags = () => v.nullish(mapOf(v.nullable(v.union([v.string(), v.number(), v.boolean()]))));

const volume = {
  type: doc(name("type"), "volume type: `gp3` when left out, `gp2`, `io1`, `io2`, `st1`, `sc1`, `standard`"),
  iops: doc(amount("iops"), "I/O operations per second, of types that take it"),
  throughput: doc(amount("throughput"), "MiB/s, of gp3"),
};
const encryption = {
  encrypted: doc(flag(), "encrypt it; `aws.encrypted` when left out"),
  kms_key_arn: doc(name("kms_key_arn"), "the key for it; `aws.kms_key_arn` when left out"),
};

export const vmFields = {
  instance_type: doc(v.pipe(v.string(), v.nonEmpty("instance_type must not be empty")), "required"),
  availability_zone: doc(
    name("availability_zone"),
    "must be that of the subnets and disks; theirs when left out",
  ),
  security_groups: doc(names(), "names or ids, instead of those of networks and configuration"),
  key_name: doc(name("key_name"), "key pair; `aws.default_key_name` when left out"),
  iam_instance_profile: doc(
    name("iam_instance_profile"),
    "name of an instance profile; `aws.default_iam_instance_profile` when left out",
  ),
  ephemeral_disk: doc(
    v.nullish(
      open({
        size: doc(amount("size"), "MiB; when left out that of the type's instance storage, or 10 GiB"),
        ...volume,
        ...encryption,
        use_instance_storage: doc(flag(), "the first instance storage device instead of an EBS volume"),
        use_root_disk: doc(flag(), "no ephemeral disk: the agent uses what the root disk has left"),
      }),
    ),
    "an EBS volume that goes with the VM",
  ),
  root_disk: doc(
    v.nullish(open({ size: doc(amount("size"), "MiB; the image's when left out"), ...volume })),
    "the volume with the stemcell",
  ),
  raw_instance_storage: doc(flag(), "all instance storage devices, for jobs that use them unformatted"),
  spot_bid_price: doc(
    v.nullish(v.union([v.number(), v.string()])),
    "most to pay per hour, USD: the VM is a one-time spot instance",
  ),
  spot_ondemand_fallback: doc(flag(), "an ordinary instance if AWS refuses the spot instance"),
  placement_group: doc(name("placement_group"), "name of a placement group"),
  tenancy: doc(name("tenancy"), "`dedicated`, or `default`"),
  auto_assign_public_ip: doc(flag(), "a public address for the first interface"),
  elbs: doc(names(), "classic load balancers that get the VM"),
  lb_target_groups: doc(names(), "names of target groups that get the VM"),
  advertised_routes: doc(
    v.nullish(
      v.array(
        open({
          table_id: doc(v.string(), "id of the route table"),
          destination: doc(v.string(), "range, such as 10.9.0.0/16"),
        }),
      ),
    ),
    "routes to the VM, in route tables",
  ),
  source_dest_check: doc(flag(), "false for VMs that route what is not theirs"),
  metadata_options: doc(
    v.nullish(mapOf(v.union([v.string(), v.number()]))),
    "laid over `aws.metadata_options`",
  ),
  tags: doc(tags(), "tags of instance, volumes and interfaces"),
};
const vmProperties = open(vmFields);
export type VmProperties = v.InferOutput<typeof vmProperties>;

export const diskFields = { ...volume, ...encryption, tags: doc(tags(), "tags of the volume") };
const diskProperties = open(diskFields);
export type DiskProperties = v.InferOutput<typeof diskProperties>;

export const networkFields = {
  subnet: doc(
    v.pipe(v.string(), v.regex(/^subnet-[0-9a-f]{8,17}$/, "subnet must be an id like subnet-0a1b2c3d")),
    "id of the subnet; required but for `vip`",
  ),
  security_groups: doc(names(), "names or ids; those of all networks together, unless the VM type has some"),
};
const networkProperties = open(networkFields);
const vipProperties = open({ security_groups: networkFields.security_groups });

export const stemcellFields = {
  ami: doc(v.nullish(mapOf(v.string())), "image id by region: a light stemcell"),
  encrypted: doc(flag(), "make an encrypted copy of the image; `aws.encrypted` when left out"),
  kms_key_arn: doc(name("kms_key_arn"), "the key for it; `aws.kms_key_arn` when left out"),
  name: doc(name("name"), "in the name of a copy"),
  version: doc(v.nullish(v.union([v.string(), v.number()])), "in the name of a copy"),
  tags: doc(tags(), "tags of a copy"),
};
const stemcellProperties = open(stemcellFields);
export type StemcellProperties = v.InferOutput<typeof stemcellProperties>;

/** Keys of upstream that this CPI refuses, with the reason. A value that changes nothing is let through. */
export const REFUSED = {
  stemcell: {
    kernel_id: "it is of paravirtual images, which no current instance type boots",
  },
} as const;

/** Keys of heavy stemcells, which say how an image is made of a file. Light ones have them too, and they say nothing there. */
export const HEAVY_ONLY = {
  disk: "size of the image in a heavy stemcell",
  architecture: "of a heavy stemcell's image; a light one's is its AMI's",
  virtualization_type: "of a heavy stemcell's image; a light one's is its AMI's",
  root_device_name: "of a heavy stemcell's image; a light one's is its AMI's",
  boot_mode: "of a heavy stemcell's image; a light one's is its AMI's",
} as const;

export const readVmProperties = (given: JsonObject) => read(vmProperties, vmFields, given, "the VM");
export const readDiskProperties = (given: JsonObject) => read(diskProperties, diskFields, given, "the disk");

export function readNetworkProperties(given: JsonObject, network: string, vip: boolean) {
  const what = `network '${network}'`;
  const checked = check(vip ? vipProperties : networkProperties, given, "cloud_properties");
  if (!checked.ok) throw BadAwsProperties({ what, problems: checked.problems });
  return checked.value as v.InferOutput<typeof vipProperties> & { readonly subnet?: string };
}

export function readStemcellProperties(given: JsonObject): StemcellProperties {
  const refused = Object.entries(REFUSED.stemcell).find(([key]) => given[key] != null);
  if (refused !== undefined) throw UnsupportedKey({ what: "the stemcell", key: refused[0], why: refused[1] });
  const checked = check(stemcellProperties, given, "cloud_properties");
  if (!checked.ok) throw BadAwsProperties({ what: "the stemcell", problems: checked.problems });
  return checked.value;
}

function read<const S extends v.GenericSchema>(
  schema: S,
  known: object,
  given: JsonObject,
  what: string,
): { readonly properties: v.InferOutput<S>; readonly unknown: readonly string[] } {
  const checked = check(schema, given, "cloud_properties");
  if (!checked.ok) throw BadAwsProperties({ what, problems: checked.problems });
  return {
    properties: checked.value,
    // Likely misspelled, or another cloud's.
    unknown: Object.keys(given).filter((key) => !Object.hasOwn(known, key)),
  };
}
