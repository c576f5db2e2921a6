import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { problemsError } from "../documents/problems.ts";
import { parseYaml } from "../documents/yaml.ts";
import { parseCloudConfig } from "./cloud-config.ts";
import { parseManifest } from "./deployment.ts";
import { referenceProblems } from "./references.ts";
import { CLOUD, SHOP } from "./testing/documents.ts";

type Change = readonly [path: string, value: unknown];

function change(text: string, changes: readonly Change[]): unknown {
  const operations = changes.map(([path, value]) => ({ type: "replace", path, value }));
  return applyOps(parseYaml(text, "m"), operations, "test");
}

function check(inManifest: readonly Change[], inCloud: readonly Change[] = []) {
  const manifest = parseManifest(change(SHOP, inManifest));
  const config = parseCloudConfig([change(CLOUD, inCloud)]);
  if (!manifest.ok) throw problemsError("manifest", manifest.problems);
  if (!config.ok) throw problemsError("cloud config", config.problems);
  return referenceProblems(manifest.manifest, config.cloudConfig);
}

const DB = "/instance_groups/name=db";
const WEB = "/instance_groups/name=web";

describe("manifest and cloud config", () => {
  it("have no problems if they fit", () => expect(check([])).toEqual([]));

  it.each<[string, Change]>([
    ["Did you mean 'small'?", [`${WEB}/vm_type`, "smal"]],
    ["Did you mean 'private'?", [`${WEB}/networks/0/name`, "privte"]],
    ["Did you mean 'z1'", [`${WEB}/azs`, ["z1", "z11"]]],
  ])("suggests a name that exists: %s", (words, mistake) => {
    expect(check([mistake]).map(({ fix }) => fix)).toContainEqual(expect.stringContaining(words));
  });

  it.each<[string, readonly Change[], readonly Change[], string, number]>([
    ["an unknown zone", [[`${WEB}/azs`, ["z1", "z9"]]], [], "instance_groups[web].azs[1]", 140018],
    ["an unknown VM type", [[`${WEB}/vm_type`, "huge"]], [], "instance_groups[web].vm_type", 140004],
    [
      "an unknown extension",
      [[`${WEB}/vm_extensions`, ["lb", "x"]]],
      [],
      "instance_groups[web].vm_extensions[1]",
      140004,
    ],
    ["an unknown stemcell", [[`${WEB}/stemcell`, "other"]], [], "instance_groups[web].stemcell", 140005],
    [
      "an unknown disk type",
      [[`${DB}/persistent_disk_type`, "x"]],
      [],
      "instance_groups[db].persistent_disk_type",
      140012,
    ],
    [
      "an unknown network",
      [[`${WEB}/networks/0/name`, "gone"]],
      [],
      "instance_groups[web].networks[0].name",
      150001,
    ],
    [
      "a zone that the network does not serve",
      [],
      [["/networks/name=private/subnets/1/azs", ["z1"]]],
      "instance_groups[web].networks[0].name",
      150006,
    ],
    [
      "zones on a network without any",
      [],
      [["/networks/name=outside", { name: "outside", type: "dynamic" }]],
      "instance_groups[web].networks[1].name",
      150006,
    ],
    [
      "too few static addresses",
      [[`${DB}/instances`, 3]],
      [],
      "instance_groups[db].networks[0].static_ips",
      150002,
    ],
    [
      "an address of no subnet",
      [[`${DB}/networks/0/static_ips`, ["10.9.0.1", "10.4.0.200"]]],
      [],
      "instance_groups[db].networks[0].static_ips",
      150002,
    ],
    [
      "a reserved address",
      [[`${DB}/networks/0/static_ips`, ["10.4.0.5", "10.4.0.200"]]],
      [],
      "instance_groups[db].networks[0].static_ips",
      150002,
    ],
    [
      "an address that is not static",
      [[`${DB}/networks/0/static_ips`, ["10.4.0.50", "10.4.0.200"]]],
      [],
      "instance_groups[db].networks[0].static_ips",
      130009,
    ],
    [
      "an address of another zone",
      [[`${DB}/networks/0/static_ips`, ["10.4.1.50", "10.4.0.200"]]],
      [["/networks/name=private/subnets/1/static?", "10.4.1.50"]],
      "instance_groups[db].networks[0].static_ips",
      150007,
    ],
    [
      "an address of another group",
      [[`${WEB}/networks/0/static_ips?`, ["10.4.0.200-10.4.0.202"]]],
      [],
      "instance_groups[db].networks[0].static_ips",
      130008,
    ],
    [
      "static addresses on a dynamic network",
      [[`${WEB}/networks/1/static_ips?`, ["8.8.8.8"]]],
      [],
      "instance_groups[web].networks[1].static_ips",
      150008,
    ],
    [
      "a vip network without addresses",
      [[`${WEB}/networks/-`, { name: "floating" }]],
      [],
      "instance_groups[web].networks[2].static_ips",
      150002,
    ],
    [
      "a vip network as default",
      [[`${WEB}/networks/-`, { name: "floating", default: ["addressable"] }]],
      [],
      "instance_groups[web].networks[2].default",
      130007,
    ],
    [
      "vip addresses from both sides",
      [[`${WEB}/networks/-`, { name: "floating", static_ips: ["1.1.1.1-1.1.1.3"] }]],
      [["/networks/name=floating/subnets?", [{ static: ["2.2.2.2"] }]]],
      "instance_groups[web].networks[2].static_ips",
      130014,
    ],
    [
      "migration from a group that is there",
      [[`${DB}/migrated_from`, [{ name: "web" }]]],
      [],
      "instance_groups[db].migrated_from[0].name",
      190018,
    ],
    [
      "groups that migrate in a circle",
      [
        [`${DB}/migrated_from`, [{ name: "web" }]],
        [`${WEB}/migrated_from?`, [{ name: "db" }]],
      ],
      [],
      "instance_groups[web].migrated_from[0].name",
      190018,
    ],
    [
      "migration to two groups",
      [[`${WEB}/migrated_from?`, [{ name: "postgres" }]]],
      [],
      "instance_groups[db].migrated_from[0].name",
      190018,
    ],
    [
      "migration from an unknown zone",
      [[`${DB}/migrated_from/0/az`, "z9"]],
      [],
      "instance_groups[db].migrated_from[0].az",
      140018,
    ],
  ])("%s is a problem", (_, inManifest, inCloud, where, code) => {
    expect(check(inManifest, inCloud)).toContainEqual(
      expect.objectContaining({
        where,
        code,
        problem: expect.stringMatching(/./),
        fix: expect.stringMatching(/\.$/),
      }),
    );
  });

  it.each<[string, readonly Change[], readonly Change[]]>([
    [
      "vip addresses given by the group",
      [[`${WEB}/networks/-`, { name: "floating", static_ips: ["1.1.1.1-1.1.1.3"] }]],
      [],
    ],
    [
      "vip addresses given by the network",
      [[`${WEB}/networks/-`, { name: "floating" }]],
      [["/networks/name=floating/subnets?", [{ static: ["2.2.2.2"] }]]],
    ],
    [
      "a group that migrates from itself, to get zones",
      [[`${DB}/migrated_from`, [{ name: "db", az: "z1" }]]],
      [],
    ],
  ])("%s are fine", (_, inManifest, inCloud) => expect(check(inManifest, inCloud)).toEqual([]));
});
