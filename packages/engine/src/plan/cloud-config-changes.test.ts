import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { parseYaml } from "../documents/yaml.ts";
import { checkDeploy } from "../manifest/deploy-problems.ts";
import type { Plan } from "./model.ts";
import { plan } from "./plan.ts";
import { stemcell } from "./testing/builders.ts";
import { deployed, inputFor, updatesOf } from "./testing/world.ts";

const CLOUD = `---
azs:
- {name: z1, cloud_properties: {rack: 1}}
- {name: z2, cloud_properties: {rack: 2}}
vm_types: [{name: small, cloud_properties: {cpu: 1}}]
vm_extensions: [{name: lb, cloud_properties: {pool: web}}]
networks:
- name: private
  subnets:
  - {range: 10.1.0.0/24, gateway: 10.1.0.1, az: z1, dns: [10.9.0.2], static: [10.1.0.100-10.1.0.109]}
  - {range: 10.2.0.0/24, gateway: 10.2.0.1, az: z2, dns: [10.9.0.2], static: [10.2.0.100-10.2.0.109]}
- name: outside
  type: dynamic
  subnets:
  - {az: z1, cloud_properties: {net: a}}
  - {az: z2, cloud_properties: {net: b}}
- {name: floating, type: vip, cloud_properties: {pool: x}}
compilation: {workers: 1, network: private, az: z1, vm_type: small}
`;

/** An instance of `web` in each zone, and one of `db` at an address of its own. */
const SHOP = `---
name: shop
releases: []
stemcells: [{alias: default, os: ubuntu-jammy, version: "1.1"}]
update: {canaries: 1, max_in_flight: 2, canary_watch_time: 1000, update_watch_time: 1000}
instance_groups:
- name: web
  azs: [z1, z2]
  instances: 2
  vm_type: small
  vm_extensions: [lb]
  stemcell: default
  networks:
  - {name: private, default: [dns, gateway]}
  - {name: floating, static_ips: [192.0.2.7, 192.0.2.8]}
  jobs: []
- name: db
  azs: [z1]
  instances: 1
  vm_type: small
  stemcell: default
  networks: [{name: private, static_ips: [10.1.0.100]}]
  jobs: []
- name: far
  azs: [z2]
  instances: 1
  vm_type: small
  stemcell: default
  networks: [{name: outside}]
  jobs: []
`;

/** `undefined` removes what is there. */
type Change = readonly [path: string, value?: unknown];

const changed = (text: string, changes: readonly Change[]): unknown =>
  applyOps(
    parseYaml(text, "m"),
    changes.map(([path, value]) =>
      value === undefined ? { type: "remove", path } : { type: "replace", path, value },
    ),
    "test",
  );

const read = (inCloud: readonly Change[], inManifest: readonly Change[]) =>
  checkDeploy({
    manifest: changed(SHOP, inManifest),
    cloudConfigs: [changed(CLOUD, inCloud)],
    runtimeConfigs: [],
    stemcells: [stemcell("1.1")],
  });

/** Returns the actions of a deploy, or why it is rejected, with these changes under the running deployment. */
function deploying(inCloud: readonly Change[], inManifest: readonly Change[] = []): readonly string[] {
  const before = read([], []);
  if (!before.ok) throw new Error("the documents are wrong");
  const now = read(inCloud, inManifest);
  if (!now.ok) return now.problems.map(({ code, problem }) => `${code} ${problem}`);
  const made = plan(inputFor(deployed(before), now));
  return made.ok ? told(made.plan) : made.problems.map(({ code, problem }) => `${code} ${problem}`);
}

const told = (made: Plan): readonly string[] => [
  ...made.groups.flat().flatMap(({ surplus }) => surplus.map((one) => `${nameOf(one)}: deleted`)),
  ...made.missingVms.map((one) => `${nameOf(one)}: new`),
  ...updatesOf(made)
    .filter(({ action }) => action !== "create")
    .map((one) => `${nameOf(one)}: ${one.action}, ${one.changes.map(({ reason }) => reason).join(", ")}`),
];
const nameOf = ({
  desired,
  recorded,
}: Pick<ReturnType<typeof updatesOf>[number], "desired" | "recorded">) => {
  const one = desired ?? recorded;
  return `${one?.group} in ${one?.az}`;
};

const FIRST = "/networks/name=private/subnets/0";
const SECOND = "/networks/name=private/subnets/1";

describe("a cloud config that changes under a running deployment", () => {
  it.each<[string, readonly Change[], readonly string[]]>([
    ["that says the same", [], []],
    [
      "that says the same in other words and another order",
      [
        [`${FIRST}/gateway`, "10.1.0.1"],
        [`${SECOND}/az`],
        [`${SECOND}/azs?`, ["z2"]],
        ["/networks/-", { name: "new", type: "dynamic" }],
        ["/azs/-", { name: "z3" }],
      ],
      [],
    ],
    ["with other VMs to compile on", [["/compilation/az", "z2"]], []],
    [
      "with another range in one zone: who is there moves",
      [[SECOND, { range: "10.3.0.0/24", gateway: "10.3.0.1", az: "z2", dns: ["10.9.0.2"] }]],
      [
        "web in z2: recreate, network 'private': ip 10.2.0.2 -> 10.3.0.2, network 'private': gateway 10.2.0.1 -> 10.3.0.1",
      ],
    ],
    [
      "with a larger range: addresses stay, the netmask does not",
      [[`${SECOND}/range`, "10.2.0.0/23"]],
      ["web in z2: recreate, network 'private': netmask 255.255.255.0 -> 255.255.254.0"],
    ],
    [
      "with an address in use reserved: who has it gets another",
      [[`${FIRST}/reserved?`, ["10.1.0.2-10.1.0.9"]]],
      ["web in z1: recreate, network 'private': ip 10.1.0.2 -> 10.1.0.10"],
    ],
    ["with addresses reserved that nobody has", [[`${FIRST}/reserved?`, ["10.1.0.3-10.1.0.9"]]], []],
    [
      "with another gateway: whoever is behind it",
      [[`${FIRST}/gateway`, "10.1.0.254"]],
      [
        "web in z1: recreate, network 'private': gateway 10.1.0.1 -> 10.1.0.254",
        "db in z1: recreate, network 'private': gateway 10.1.0.1 -> 10.1.0.254",
      ],
    ],
    [
      "whose gateway takes an address in use",
      [[`${SECOND}/gateway`, "10.2.0.2"]],
      [
        "web in z2: recreate, network 'private': ip 10.2.0.2 -> 10.2.0.1, network 'private': gateway 10.2.0.1 -> 10.2.0.2",
      ],
    ],
    [
      "with another DNS server in one zone",
      [[`${SECOND}/dns`, ["10.9.0.3"]]],
      ["web in z2: recreate, network 'private': dns changed"],
    ],
    [
      "with other properties of a subnet",
      [[`${SECOND}/cloud_properties?`, { vlan: 7 }]],
      ["web in z2: recreate, network 'private': cloud_properties changed"],
    ],
    [
      "with other properties of a dynamic subnet",
      [["/networks/name=outside/subnets/1/cloud_properties", { net: "c" }]],
      ["far in z2: recreate, network 'outside': cloud_properties changed"],
    ],
    [
      "with other properties of a dynamic subnet of another zone",
      [["/networks/name=outside/subnets/0/cloud_properties", { net: "c" }]],
      [],
    ],
    [
      "with other properties of the floating addresses",
      [["/networks/name=floating/cloud_properties", { pool: "y" }]],
      [
        "web in z1: recreate, network 'floating': cloud_properties changed",
        "web in z2: recreate, network 'floating': cloud_properties changed",
      ],
    ],
    [
      "with other properties of a zone",
      [["/azs/name=z2/cloud_properties", { rack: 3 }]],
      [
        "web in z2: recreate, cloud properties changed: rack",
        "far in z2: recreate, cloud properties changed: rack",
      ],
    ],
    [
      "with other properties of an extension",
      [["/vm_extensions/name=lb/cloud_properties", { pool: "other" }]],
      [
        "web in z1: recreate, cloud properties changed: pool",
        "web in z2: recreate, cloud properties changed: pool",
      ],
    ],
  ])("%s", (_, inCloud, expected) => expect(deploying(inCloud)).toEqual(expected));

  it.each<[string, readonly Change[], string]>([
    [
      "a static address in use is reserved",
      [
        [`${FIRST}/reserved?`, ["10.1.0.100"]],
        [`${FIRST}/static`, ["10.1.0.101-10.1.0.109"]],
      ],
      "150002 Instance group 'db' with network 'private' declares static ip '10.1.0.100', which belongs to no subnet",
    ],
    [
      "a static address in use is reserved, and static",
      [[`${FIRST}/reserved?`, ["10.1.0.100"]]],
      "160006 Static IP '10.1.0.100-10.1.0.109' is in network 'private' reserved range",
    ],
    [
      "a static address in use is static no longer",
      [[`${FIRST}/static`, ["10.1.0.101-10.1.0.109"]]],
      "130009 IP '10.1.0.100' on network 'private' does not belong to static pool",
    ],
    [
      "a static address in use is the gateway's",
      [
        [`${FIRST}/gateway`, "10.1.0.100"],
        [`${FIRST}/static`, ["10.1.0.101-10.1.0.109"]],
      ],
      "150002 Instance group 'db' with network 'private' declares static ip '10.1.0.100', which belongs to no subnet",
    ],
    [
      "the range of a static address is gone",
      [[FIRST, { range: "10.3.0.0/24", gateway: "10.3.0.1", az: "z1" }]],
      "150002 Instance group 'db' with network 'private' declares static ip '10.1.0.100', which belongs to no subnet",
    ],
    [
      "a range has no room for all",
      [[SECOND, { range: "10.3.0.0/30", gateway: "10.3.0.1", az: "z2", reserved: ["10.3.0.2"] }]],
      "130011 Failed to reserve IP for 'web/u000002 (1)' for manual network 'private': no more available",
    ],
    [
      "a zone in use is gone",
      [["/azs/name=z2"]],
      "160007 Network 'private' refers to an unknown availability zone 'z2'",
    ],
    [
      "a zone in use is gone with its subnets",
      [["/azs/name=z2"], [SECOND], ["/networks/name=outside/subnets/1"]],
      "140018 Instance group 'web' references unknown availability zone 'z2'",
    ],
    [
      "the subnet of a zone in use is gone",
      [[SECOND]],
      "150006 Instance group 'web' must specify availability zone that matches availability zones of network 'private'",
    ],
    [
      "a network in use is gone",
      [["/networks/name=floating"]],
      "150001 Instance group 'web' references an unknown network 'floating'",
    ],
    [
      "floating addresses are the network's to give now",
      [["/networks/name=floating/subnets?", [{ static: ["192.0.2.7-192.0.2.9"] }]]],
      "130014 IPs cannot be specified in both the instance group and the cloud config",
    ],
    [
      "an extension in use is gone",
      [["/vm_extensions/name=lb"]],
      "140004 The vm_extension 'lb' has not been configured in cloud-config",
    ],
    [
      "a VM type in use is gone",
      [
        ["/vm_types/name=small/name", "large"],
        ["/compilation/vm_type", "large"],
      ],
      "140004 Instance group 'web' references an unknown vm type 'small'",
    ],
  ])("is refused in upstream's words when %s", (_, inCloud, words) => {
    expect(deploying(inCloud)[0]).toMatch(new RegExp(`^${escaped(words)}`));
  });

  it("without a zone that the manifest leaves too: who is there is replaced in another", () => {
    const gone: readonly Change[] = [["/azs/name=z2"], [SECOND], ["/networks/name=outside/subnets/1"]];
    const inManifest: readonly Change[] = [
      ["/instance_groups/name=web/azs", ["z1"]],
      ["/instance_groups/name=far/azs", ["z1"]],
    ];
    const others: Change = [
      "/instance_groups/name=web/networks/name=floating/static_ips",
      ["192.0.2.7", "192.0.2.9"],
    ];
    expect(deploying(gone, [...inManifest, others])).toEqual([
      "web in z2: deleted",
      "far in z2: deleted",
      "web in z1: new",
      "far in z1: new",
    ]);
    // As upstream: an address is free for the next deploy after the one that gives it up.
    expect(deploying(gone, inManifest)).toEqual([
      expect.stringMatching(
        /^130008 Failed to reserve IP '192.0.2.8' for instance 'web.*: already reserved by/,
      ),
    ]);
  });

  it("recreates the VMs of a network whose type has changed", () => {
    const network = { name: "private", type: "dynamic", subnets: [{ azs: ["z1", "z2"] }] };
    const noStatics: Change = ["/instance_groups/name=db/networks/0/static_ips"];
    expect(deploying([["/networks/name=private", network]], [noStatics])).toEqual(
      ["web in z1", "web in z2", "db in z1"].map((name) =>
        expect.stringMatching(new RegExp(`^${name}: recreate, network 'private': type manual -> dynamic`)),
      ),
    );
    const manual = {
      name: "outside",
      subnets: [{ range: "10.5.0.0/24", gateway: "10.5.0.1", azs: ["z1", "z2"] }],
    };
    expect(deploying([["/networks/name=outside", manual]])).toEqual([
      expect.stringMatching(/^far in z2: recreate, network 'outside': type dynamic -> manual, /),
    ]);
  });
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
