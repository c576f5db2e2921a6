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
  it("that want names of links want short names, and names", () =>
    expect(parsed({ use_link_dns_names: true })).toMatchObject({
      manifest: { features: { useDnsAddresses: true, useShortDnsAddresses: true, useLinkDnsNames: true } },
    }));

  it.each(["use_short_dns_addresses", "use_dns_addresses"])(
    "that want names of links must not refuse %s",
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

  it("that say nothing of names leave it to the Director", () => {
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

  it.each([true, false])(
    "that say %s to memory for jobs and settings say it in the env of every group",
    (tmpfs) =>
      expect(envs({ use_tmpfs_config: tmpfs }, { a: 1, bosh: { swap_size: 0 } })).toEqual({
        a: 1,
        bosh: { swap_size: 0, job_dir: { tmpfs }, agent: { settings: { tmpfs } } },
      }),
  );

  it("that say it leave what a group says itself, and the env alone where they say nothing", () => {
    const own = {
      bosh: { job_dir: { tmpfs: false, tmpfs_size: "9m" }, agent: { settings: { tmpfs: false } } },
    };
    expect(envs({ use_tmpfs_config: true }, own)).toEqual(own);
    expect(envs({})).toEqual(envs({ randomize_az_placement: true }));
    expect(envs({}, { a: 1 })).toEqual({ a: 1 });
  });
});
