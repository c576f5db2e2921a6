import { jsonObject, open } from "@slipway/protocol/schema/json";
import { doc, secret } from "@slipway/protocol/schema/marks";
import * as v from "valibot";

/** Job templates of upstream write null for what is not set. */
const optionalText = () => v.nullish(v.string());
const optionalSecret = () => v.nullish(secret(v.string()));

const fields = {
  credentials_source: v.nullish(
    doc(
      v.picklist(["static", "env_or_profile"], "credentials_source must be static or env_or_profile"),
      "`static` (also when left out), or `env_or_profile`: environment, web identity, shared file, instance profile",
    ),
  ),
  access_key_id: doc(optionalText(), "used with `static`"),
  secret_access_key: doc(optionalSecret(), "used with `static`"),
  session_token: doc(optionalSecret(), "used with `static`, for temporary keys"),
  role_arn: doc(optionalText(), "the CPI assumes this role with the credentials"),
  region: doc(optionalText(), "required, unless both endpoints are given"),
  ec2_endpoint: doc(optionalText(), "host or URL; made from the region when left out"),
  elb_endpoint: doc(optionalText(), "host or URL; made from the region when left out"),
  sts_endpoint: doc(optionalText(), "host or URL; made from the region when left out. Not of upstream"),
  dualstack: doc(v.nullish(v.boolean()), "use the endpoints that also have IPv6"),
  max_retries: doc(
    v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))),
    "repeats of one request that AWS throttles or fails; 8 when left out. All requests of a CPI call share four times as many",
  ),
  connection_options: doc(
    v.nullish(
      open({
        ca_cert: doc(optionalText(), "PEM of the authorities that are believed instead of the system's"),
      }),
    ),
    "of connections to AWS",
  ),
  default_key_name: doc(optionalText(), "key pair of VMs whose type names none"),
  default_iam_instance_profile: doc(optionalText(), "instance profile of VMs whose type names none"),
  default_security_groups: doc(
    v.nullish(v.array(v.string())),
    "names or ids, for VMs whose type and networks name none",
  ),
  encrypted: doc(
    v.nullish(v.boolean()),
    "encrypt ephemeral and persistent disks, and copies of stemcells, unless their properties say otherwise",
  ),
  kms_key_arn: doc(optionalText(), "the key for it; AWS's own when left out"),
  metadata_options: doc(
    v.nullish(jsonObject()),
    "of the metadata service of VMs, in snake case. `http_tokens: required` (IMDSv2) unless it says otherwise",
  ),
  enable_describe_instance_types: doc(
    v.nullish(v.boolean()),
    "false: a list in the CPI says which types show EBS volumes as NVMe, and ec2:DescribeInstanceTypes is not called",
  ),
  fast_path_delete: doc(
    v.nullish(v.boolean()),
    "accepted and not used: delete_vm always waits, since the address is taken until the instance has ended",
  ),
  stemcell: doc(
    v.nullish(jsonObject()),
    "laid over the `cloud_properties` of every stemcell; `kernel_id` in it is refused as there",
  ),
};

/** The section `aws` of the configuration, with the keys of upstream's `cpi.json`. */
export const awsConfig = open(fields);
export type AwsConfig = v.InferOutput<typeof awsConfig>;
