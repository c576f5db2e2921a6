import { expect, it } from "vitest";
import { KEY_TABLES } from "./keys.ts";

/** Keys that upstream's CPI reads, written down from its sources (jobs/aws_cpi/spec, cloud_props.rb). */
const UPSTREAM: Readonly<Record<string, readonly string[]>> = {
  "Configuration: `aws`": [
    ...["credentials_source", "access_key_id", "secret_access_key", "session_token", "role_arn", "region"],
    ...["ec2_endpoint", "elb_endpoint", "dualstack", "max_retries", "connection_options.ca_cert"],
    ...["default_key_name", "default_iam_instance_profile", "default_security_groups", "encrypted"],
    ...["kms_key_arn", "metadata_options", "enable_describe_instance_types", "fast_path_delete", "stemcell"],
  ],
  "VM types and VM extensions": [
    ...["instance_type", "availability_zone", "security_groups", "key_name", "iam_instance_profile"],
    ...["size", "type", "iops", "throughput"].flatMap((key) => [`ephemeral_disk.${key}`, `root_disk.${key}`]),
    ...["encrypted", "kms_key_arn", "use_instance_storage", "use_root_disk"].map(
      (key) => `ephemeral_disk.${key}`,
    ),
    ...["raw_instance_storage", "spot_bid_price", "spot_ondemand_fallback", "placement_group", "tenancy"],
    ...["auto_assign_public_ip", "elbs", "lb_target_groups", "advertised_routes", "source_dest_check"],
    ...["metadata_options", "tags"],
  ],
  "Disk types": ["type", "iops", "throughput", "encrypted", "kms_key_arn", "tags"],
  Networks: ["subnet", "security_groups"],
  Stemcells: [
    ...["ami", "disk", "architecture", "virtualization_type", "root_device_name", "kernel_id", "boot_mode"],
    ...["encrypted", "kms_key_arn", "name", "version", "tags"],
  ],
};

it.each(Object.entries(UPSTREAM))("has a row for every key of upstream: %s", (title, keys) => {
  const table = KEY_TABLES.find((one) => one.title === title);
  const known = table?.rows.map(({ key }) => key) ?? [];
  expect(keys.filter((key) => !known.includes(key))).toEqual([]);
  expect(table?.rows.filter(({ what }) => what === "")).toEqual([]);
});
