import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { parseYaml } from "../documents/yaml.ts";
import { parseManifest } from "./deployment.ts";
import { SHOP } from "./testing/documents.ts";

const parsed = (features: object) =>
  parseManifest(
    applyOps(parseYaml(SHOP, "m"), [{ type: "replace", path: "/features", value: features }], "t"),
  );

describe("features of a manifest", () => {
  it("features with link names imply short names and DNS addresses", () =>
    expect(parsed({ use_link_dns_names: true })).toMatchObject({
      manifest: { features: { useDnsAddresses: true, useShortDnsAddresses: true, useLinkDnsNames: true } },
    }));

  it.each(["use_short_dns_addresses", "use_dns_addresses"])(
    "features with link names reject a disabled %s",
    (key) =>
      expect(parsed({ use_link_dns_names: true, [key]: false })).toMatchObject({
        problems: [
          {
            code: 210001,
            where: `features.${key}`,
            problem: `cannot enable \`use_link_dns_names\` when \`${key}\` is explicitly disabled`,
          },
        ],
      }),
  );

  it("features without a choice of names leave it to the Director", () => {
    const found = parsed({});
    expect(found.ok && found.manifest.features.useDnsAddresses).toBeUndefined();
  });

  const envs = (features: object, env?: object) => {
    const ops = [
      { type: "replace", path: "/features", value: features },
      ...(env === undefined ? [] : [{ type: "replace", path: "/instance_groups/name=web/env?", value: env }]),
    ];
    const found = parseManifest(applyOps(parseYaml(SHOP, "m"), ops, "t"));
    return found.ok ? found.manifest.groups.find(({ name }) => name === "web")?.env : found.problems;
  };

  it.each([true, false])("features with tmpfs %s set it in the env of every group", (tmpfs) =>
    expect(envs({ use_tmpfs_config: tmpfs }, { a: 1, bosh: { swap_size: 0 } })).toEqual({
      a: 1,
      bosh: { swap_size: 0, job_dir: { tmpfs }, agent: { settings: { tmpfs } } },
    }),
  );

  it("features with tmpfs keep what a group sets itself, and change no env if they are silent", () => {
    const own = {
      bosh: { job_dir: { tmpfs: false, tmpfs_size: "9m" }, agent: { settings: { tmpfs: false } } },
    };
    expect(envs({ use_tmpfs_config: true }, own)).toEqual(own);
    expect(envs({})).toEqual(envs({ randomize_az_placement: true }));
    expect(envs({}, { a: 1 })).toEqual({ a: 1 });
  });
});
