import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { parseYaml } from "../documents/yaml.ts";
import { parseCloudConfig } from "./cloud-config.ts";
import { parseManifest } from "./deployment.ts";
import { CLOUD, SHOP } from "./testing/documents.ts";

const changed = (text: string, path: string, value: unknown) =>
  applyOps(parseYaml(text, "m"), [{ type: "replace", path, value }], "test");

describe("static_ips", () => {
  const read = (value: unknown) =>
    parseManifest(changed(SHOP, "/instance_groups/name=db/networks/0/static_ips", value));

  it.each([
    ["one address", "10.4.0.200", ["10.4.0.200"]],
    ["a range with blanks", "10.4.0.200 - 10.4.0.201", ["10.4.0.200", "10.4.0.201"]],
    ["a CIDR", "10.4.0.200/31", ["10.4.0.200", "10.4.0.201"]],
    ["lists in a list", [["10.4.0.200"], null, "10.4.0.201"], ["10.4.0.200", "10.4.0.201"]],
    ["null", null, []],
  ])("takes %s, as upstream does", (_, value, addresses) => {
    const parsed = read(value);
    expect(parsed.ok && parsed.manifest.groups[1]?.networks[0]?.staticIps).toEqual(addresses);
  });

  it.each([
    ["text that is no address", "x", "static_ips", 150009],
    ["a map", {}, "static_ips", 40000],
    ["a number in a list of a list", ["10.4.0.200", [5]], "static_ips[1][0]", 40000],
  ])("rejects %s and names its place", (_, value, place, code) => {
    const parsed = read(value);
    expect(parsed.ok ? [] : parsed.problems).toMatchObject([
      { code, where: `instance_groups[db].networks[0].${place}` },
    ]);
  });
});

describe.each(["reserved", "static"])("%s of a subnet", (key) => {
  it.each([
    ["one range", "10.4.0.200 - 10.4.0.201", 1],
    ["lists in a list", [["10.4.0.200"], null, ["10.4.0.201"]], 2],
    ["null", null, 0],
  ])("takes %s, as upstream does", (_, value, count) => {
    const subnet = { range: "10.4.0.0/24", gateway: "10.4.0.1", az: "z1", [key]: value };
    const parsed = parseCloudConfig([changed(CLOUD, "/networks/name=private/subnets/0", subnet)]);
    const network = parsed.ok ? parsed.cloudConfig.networks[0] : undefined;
    const [first] = network?.type === "manual" ? network.subnets : [];
    expect(first?.[key === "static" ? "static" : "reserved"]).toHaveLength(count);
  });
});
