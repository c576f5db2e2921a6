import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { parseYaml } from "../documents/yaml.ts";
import type { StemcellRecord } from "../model/records.ts";
import { checkDeploy } from "./deploy-problems.ts";
import { CLOUD, SHOP } from "./testing/documents.ts";

const STEMCELL = {
  id: 1,
  name: "noble",
  version: "1.5",
  operatingSystem: "ubuntu-noble",
  cid: "sc-1",
  cpi: "",
  apiVersion: 3,
} as StemcellRecord;

/** Returns the messages of a deploy with one place of one document changed: `undefined` removes it. */
function said(document: "manifest" | "cloud", path: string, value: unknown) {
  const operation = value === undefined ? { type: "remove", path } : { type: "replace", path, value };
  const change = (text: string, wanted: boolean) =>
    applyOps(parseYaml(text, "m"), wanted ? [operation] : [], "test");
  const checked = checkDeploy({
    manifest: change(SHOP, document === "manifest"),
    cloudConfigs: [change(CLOUD, document === "cloud")],
    runtimeConfigs: [],
    stemcells: [STEMCELL],
  });
  return checked.ok ? [] : checked.problems.map(({ code, problem }) => `${code} ${problem}`);
}

const WEB = "/instance_groups/name=web";
const DB = "/instance_groups/name=db";
const SUBNET = "/networks/name=private/subnets/0";
type Mistake = ["manifest" | "cloud", string, unknown, string];
const disks = [
  { name: "a", type: "d10" },
  { name: "a", type: "d10" },
];

describe("mistakes are reported with upstream's number, in upstream's words first", () => {
  it.each<Mistake>([
    ["manifest", "/name", undefined, "40001 Required property 'name' was not specified in object"],
    [
      "manifest",
      "/releases",
      7,
      "40000 Property 'releases' value (a whole number) did not match the required type 'Array'",
    ],
    ["manifest", "/tags", [], "40000 Property 'tags' value (a list) did not match the required type 'Hash'"],
    [
      "manifest",
      `${WEB}/instances`,
      "x",
      "40000 Property 'instances' value (a string) did not match the required type 'Integer'",
    ],
    ["manifest", `${WEB}/instances`, -1, "40002 'instances' value (-1) should be greater than 0"],
    [
      "manifest",
      "/update/serial?",
      "x",
      "40000 Property 'serial' value (a string) did not match the required type 'boolean'",
    ],
    [
      "manifest",
      "/update/canary_watch_time",
      "x",
      "180001 Watch time should be an integer or a range of two integers",
    ],
    [
      "manifest",
      "/update/canary_watch_time",
      "9-1",
      "180001 Min watch time cannot be greater than max watch time",
    ],
    [
      "manifest",
      "/azs?",
      [],
      "190014 Deployment manifest contains 'azs' section, but this can only be set in a cloud-config",
    ],
    [
      "manifest",
      "/networks?",
      [],
      "140026 Deployment 'networks' are no longer supported. Network definitions must now be provided in a cloud-config",
    ],
    [
      "manifest",
      "/disk_pools?",
      [],
      "140027 disk_pools is no longer supported. Disk definitions must now be provided as disk_types in a cloud-config",
    ],
    ["manifest", "/jobs?", [], "140023 Jobs are no longer supported, please use instance groups instead"],
    [
      "manifest",
      "/resource_pools?",
      [],
      "140028 resource_pools is no longer supported. You must now define resources in a cloud-config",
    ],
    [
      "manifest",
      "/release?",
      {},
      "190001 Deployment manifest contains both 'release' and 'releases' sections, please use one of the two",
    ],
    [
      "manifest",
      "/stemcells/alias=default/os",
      undefined,
      "40001 Required property 'os' or 'name' was not specified in object",
    ],
    [
      "manifest",
      "/stemcells/-",
      { alias: "default", os: "x", version: "1" },
      "50005 Duplicate stemcell alias 'default'",
    ],
    [
      "manifest",
      "/features/use_dns_addresses?",
      "x",
      "560001 Key 'use_dns_addresses' in 'features' expected to be a boolean, but received 'a string'",
    ],
    ["manifest", `${WEB}/azs`, [], "140017 Instance group 'web' has empty availability zones"],
    [
      "manifest",
      `${WEB}/azs`,
      ["z9"],
      "140018 Instance group 'web' references unknown availability zone 'z9'",
    ],
    [
      "manifest",
      `${WEB}/vm_type`,
      undefined,
      "140022 Instance group 'web' is missing either 'vm_type' or 'vm_resources' section",
    ],
    [
      "manifest",
      `${DB}/vm_type?`,
      "small",
      "140022 Instance group 'db' can only specify 'vm_type' or 'vm_resources' keys",
    ],
    [
      "manifest",
      `${WEB}/vm_type`,
      "huge",
      "140004 Instance group 'web' references an unknown vm type 'huge'",
    ],
    [
      "manifest",
      `${WEB}/stemcell`,
      "gone",
      "140005 Instance group 'web' references an unknown stemcell 'gone'",
    ],
    [
      "manifest",
      `${WEB}/lifecycle?`,
      "x",
      "140011 Invalid lifecycle 'x' for 'web', valid lifecycle profiles are: service, errand",
    ],
    [
      "manifest",
      `${WEB}/jobs`,
      [{ name: "j", release: "r" }],
      "140002 Job 'j' (instance group 'web') references an unknown release 'r'",
    ],
    [
      "manifest",
      `${WEB}/templates?`,
      [],
      "140024 Instance group 'web' specifies template or templates. This is no longer supported, please use jobs instead",
    ],
    [
      "manifest",
      `${WEB}/resource_pool?`,
      "x",
      "140025 Instance groups no longer support resource_pool, please use 'vm_type' or 'vm_resources' keys",
    ],
    [
      "manifest",
      `${DB}/persistent_disk?`,
      5,
      "140013 Instance group 'db' specifies more than one of the following keys: 'persistent_disk', 'persistent_disk_type', and 'persistent_disks'. Choose one",
    ],
    [
      "manifest",
      `${WEB}/persistent_disk?`,
      -5,
      "140013 Instance group 'web' references an invalid persistent disk size '-5'",
    ],
    [
      "manifest",
      `${DB}/persistent_disk_type`,
      "x",
      "140012 Instance group 'db' references an unknown disk type 'x'",
    ],
    [
      "manifest",
      `${WEB}/persistent_disks?`,
      disks,
      "140013 Instance group 'web' persistent_disks's section contains duplicate names",
    ],
    [
      "manifest",
      `${WEB}/networks/0/name`,
      "gone",
      "150001 Instance group 'web' references an unknown network 'gone'",
    ],
    ["manifest", `${WEB}/networks`, [], "140009 Instance group 'web' must specify at least one network"],
    [
      "manifest",
      `${WEB}/networks/1/default`,
      ["dns"],
      "150005 Instance group 'web' must specify which network is default for gateway, since it has more than one network configured",
    ],
    [
      "manifest",
      `${WEB}/networks/0/default?`,
      ["dns"],
      "150004 Instance group 'web' specified more than one network to contain default. 'dns' has default networks: 'private', 'outside'.",
    ],
    [
      "manifest",
      `${WEB}/networks/1/default`,
      [],
      "150005 Instance group 'web' must specify which network is default for dns, gateway, since it has more than one network configured",
    ],
    [
      "manifest",
      `${WEB}/networks/0/default?`,
      ["gateway", "dns"],
      "150004 Instance group 'web' specified more than one network to contain default. 'dns' has default networks: 'private', 'outside'. 'gateway' has default networks: 'private', 'outside'.",
    ],
    [
      "manifest",
      `${DB}/networks/0/static_ips`,
      ["10.4.0.200"],
      "150002 Instance group 'db' has 2 instances but was allocated 1 static IPs in network 'private'",
    ],
    ...["10.9.0.1", "10.4.0.5", "10.4.0.1"].map(
      (ip): Mistake => [
        "manifest",
        `${DB}/networks/0/static_ips`,
        [ip, "10.4.0.200"],
        `150002 Instance group 'db' with network 'private' declares static ip '${ip}', which belongs to no subnet`,
      ],
    ),
    [
      "manifest",
      `${DB}/networks/0/static_ips`,
      ["10.4.0.50", "10.4.0.200"],
      "130009 IP '10.4.0.50' on network 'private' does not belong to static pool",
    ],
    [
      "manifest",
      `${DB}/azs`,
      ["z2"],
      "150007 Instance group 'db' declares static ip '10.4.0.200' which does not belong to any of the instance group's availability zones",
    ],
    [
      "manifest",
      `${WEB}/networks/1/static_ips?`,
      ["8.8.8.8", "8.8.8.9", "8.8.8.10"],
      "150008 Instance group 'web' using dynamic network 'outside' cannot specify static IP(s)",
    ],
    [
      "manifest",
      `${WEB}/networks/-`,
      { name: "floating", static_ips: ["192.0.2.1-192.0.2.3"], default: ["addressable"] },
      "130007 Can't provide any defaults since this is a VIP network",
    ],
    [
      "manifest",
      `${WEB}/networks`,
      [{ name: "floating", static_ips: ["192.0.2.1-192.0.2.3"] }],
      "130007 Can't provide any defaults since this is a VIP network",
    ],
    [
      "manifest",
      `${WEB}/networks/-`,
      { name: "floating", static_ips: ["192.0.2.1-192.0.2.2"] },
      "150002 Instance group 'web' has 3 instances but was allocated 2 static IPs in network 'floating'",
    ],
    [
      "manifest",
      `${WEB}/networks/1/default`,
      ["dns", "gateway", "ntp"],
      "150003 Instance group 'web' specified an invalid default network property 'ntp', valid properties are: dns, gateway",
    ],
    [
      "manifest",
      `${WEB}/networks/0/static_ips?`,
      ["10.4.0.200", "10.4.0.200"],
      "150009 Instance group 'web' specifies static IP '10.4.0.200' more than once",
    ],
    [
      "cloud",
      `${SUBNET}/gateway`,
      "10.5.0.1",
      "160003 Invalid gateway for network 'private': must be inside the range 10.4.0.0-10.4.0.255",
    ],
    [
      "cloud",
      `${SUBNET}/gateway`,
      "10.4.0.0",
      "160003 Invalid gateway for network 'private': can't be the network id",
    ],
    [
      "cloud",
      `${SUBNET}/gateway`,
      "10.4.0.255",
      "160003 Invalid gateway for network 'private': can't be the broadcast IP",
    ],
    ["cloud", `${SUBNET}/dns`, ["one"], "160004 Invalid DNS for network 'private': must be a single IP"],
    [
      "cloud",
      `${SUBNET}/reserved`,
      "10.5.0.1",
      "160005 Reserved IP '10.5.0.1' is out of network 'private' range 10.4.0.0-10.4.0.255",
    ],
    [
      "cloud",
      `${SUBNET}/static`,
      ["10.4.1.1"],
      "160006 Static IP '10.4.1.1' is out of network 'private' range 10.4.0.0-10.4.0.255",
    ],
    [
      "cloud",
      `${SUBNET}/static`,
      ["10.4.0.9"],
      "160006 Static IP '10.4.0.9' is in network 'private' reserved range 10.4.0.2-10.4.0.9",
    ],
    ["cloud", `${SUBNET}/az`, "z9", "160007 Network 'private' refers to an unknown availability zone 'z9'"],
    [
      "cloud",
      `${SUBNET}/az`,
      undefined,
      "150007 Subnets on network 'private' must all either specify availability zone or not",
    ],
    ["cloud", `${SUBNET}/azs?`, ["z1"], "160008 Network 'private' contains both 'az' and 'azs'. Choose one."],
    ["cloud", "/networks/name=outside/az?", "z1", "160008 Network 'outside' must not specify 'az'."],
    [
      "cloud",
      "/networks/name=outside/dns?",
      [],
      "160008 Network 'outside' must not specify 'dns' when also specifying 'subnets'. Instead, 'dns' should be specified on subnet entries.",
    ],
    ["cloud", "/azs/-", { name: "z1" }, "190017 Duplicate az name 'z1'"],
    ["cloud", "/vm_types/-", { name: "small" }, "190004 Duplicate vm type name 'small'"],
    ["cloud", "/vm_extensions/-", { name: "lb" }, "190005 Duplicate vm extension name 'lb'"],
    ["cloud", "/disk_types/-", { name: "d10", disk_size: 1 }, "190013 Duplicate disk type name 'd10'"],
    ["cloud", "/networks", [], "190008 No networks specified"],
    ["cloud", "/compilation", undefined, "40001 Required property 'compilation' was not specified in object"],
    ["cloud", "/compilation/workers", 0, "40002 'workers' value (0) should be greater than 1"],
    ["cloud", "/compilation/network", "x", "120001 Compilation config references an unknown network 'x'"],
    [
      "cloud",
      "/compilation/az",
      "z9",
      "120002 Compilation config references unknown az 'z9'. Known azs are: [z1, z2]",
    ],
    [
      "cloud",
      "/compilation/vm_type",
      "x",
      "120003 Compilation config references unknown vm type 'x'. Known vm types are: small",
    ],
    [
      "cloud",
      "/compilation/vm_extensions?",
      ["x"],
      "120005 Compilation config references unknown vm extension 'x'. Known vm extensions are: lb",
    ],
    [
      "cloud",
      "/compilation/cloud_properties?",
      { a: 1 },
      "120007 Compilation config specifies more than one of 'vm_type', 'vm_resources', or 'cloud_properties', only one is allowed",
    ],
  ])("%s, %s: %j", (document, path, value, words) => {
    expect(said(document, path, value)).toContainEqual(
      expect.stringMatching(new RegExp(`^${escaped(words)}`)),
    );
  });
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
