import * as v from "valibot";
import { integer, json, jsonObject, open } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";
import { name, names, properties, ranges, vmResources } from "./common.ts";

const amount = v.union([v.number(), v.string()]);

const update = {
  canaries: v.optional(doc(amount, "instances that go first: a number, or a percentage as `25%`")),
  max_in_flight: v.optional(doc(amount, "instances at once: a number, or a percentage")),
  canary_watch_time: v.optional(doc(amount, "milliseconds, or a range of them as `1000-60000`")),
  update_watch_time: v.optional(amount),
  serial: v.optional(doc(v.boolean(), "one group after the other")),
  vm_strategy: v.optional(v.picklist(["delete-create", "create-swap-delete"])),
  initial_deploy_az_update_strategy: v.optional(v.picklist(["serial", "parallel"])),
};

const job = open({
  name,
  release: name,
  properties,
  consumes: v.optional(jsonObject()),
  provides: v.optional(jsonObject()),
  custom_provider_definitions: v.optional(v.array(json())),
});

const groupNetwork = open({
  name,
  static_ips: v.optional(doc(ranges, "addresses and ranges of the network's static ones")),
  default: v.optional(doc(names, "`dns`, `gateway`, `addressable`: which network gives them, of several")),
});

const instanceGroup = open({
  name,
  instances: integer(0, "instances"),
  azs: v.optional(names),
  lifecycle: v.optional(doc(v.picklist(["service", "errand"]), "default: service")),
  vm_type: v.optional(doc(name, "of the cloud config; or `vm_resources`")),
  vm_resources: v.optional(vmResources),
  vm_extensions: v.optional(names),
  stemcell: doc(name, "an alias of `stemcells`"),
  persistent_disk: v.optional(doc(integer(0, "persistent_disk"), "in MB; or `persistent_disk_type`")),
  persistent_disk_type: v.optional(name),
  networks: v.array(groupNetwork),
  update: v.optional(open(update)),
  migrated_from: v.optional(v.array(open({ name, az: v.optional(name) }))),
  env: v.optional(hidden(jsonObject())),
  tags: v.optional(jsonObject()),
  properties,
  jobs: doc(v.array(job), "`[]` for none"),
});

const release = open({ name, version: doc(name, "or `latest`") });

/**
 * The shape of a deployment manifest: which keys there are, and their types. What has to fit together, and with the
 * cloud config, is for the Director's parser (`engine/manifest`) to say, with places and upstream's numbers.
 */
export const deploymentManifest = open({
  name,
  releases: v.optional(v.array(release)),
  release: v.optional(doc(release, "instead of `releases`")),
  stemcells: v.array(
    open({
      alias: name,
      os: v.optional(doc(name, "or `name`")),
      name: v.optional(name),
      version: doc(name, "or `latest`, `1.latest`"),
    }),
  ),
  update: open(update),
  instance_groups: v.optional(v.array(instanceGroup)),
  features: v.optional(doc(jsonObject(), "switches; `randomize_az_placement` has an effect")),
  tags: v.optional(jsonObject()),
  variables: v.optional(v.array(json())),
  properties,
});
