import { describe, expect, it } from "vitest";
import { ManifestWrong } from "../errors.ts";
import { readEnvManifest } from "./read.ts";

type Tree = Record<string, unknown>;

const whole = (): Tree => ({
  name: "lab",
  resource_pools: [
    {
      name: "vms",
      network: "default",
      stemcell: { url: "file://s.tgz" },
      cloud_properties: { ram: 4096 },
      env: { bosh: { password: "*" } },
    },
  ],
  disk_pools: [{ name: "disks", disk_size: 100, cloud_properties: { type: "ssd" } }],
  networks: [
    {
      name: "default",
      type: "manual",
      subnets: [
        { range: "10.0.0.0/24", gateway: "10.0.0.1", dns: ["10.0.0.2"], cloud_properties: { net: "x" } },
      ],
    },
  ],
  instance_groups: [
    {
      name: "bosh",
      instances: 1,
      jobs: [],
      resource_pool: "vms",
      persistent_disk_pool: "disks",
      networks: [{ name: "default", static_ips: ["10.0.0.6"] }],
      properties: {},
    },
  ],
  cloud_provider: {
    cpi: { exec_path: "./cpi", config_file: "cpi.json", properties: { a: 1 } },
    properties: { b: 2 },
  },
  tags: { owner: "lab" },
  variables: [],
});

const read = (value: unknown) => readEnvManifest({ path: "lab.yml", dir: "/lab", value });

function problemsOf(value: unknown): string {
  try {
    read(value);
  } catch (error) {
    if (ManifestWrong.is(error)) return error.message;
    throw error;
  }
  return "none";
}

/** A whole manifest with one thing put at a place, `a.0.b`; undefined takes it away. */
function changed(place: string, value: unknown): Tree {
  const manifest = whole();
  const keys = place.split(".");
  const last = keys.pop() ?? "";
  let at = manifest;
  for (const key of keys) at = at[key] as Tree;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return manifest;
}

describe("a manifest of create-env", () => {
  it("is read whole, with paths relative to itself", () => {
    expect(read(whole())).toEqual({
      name: "lab",
      group: "bosh",
      releases: [],
      jobs: [],
      properties: {},
      stemcell: { url: "file:///lab/s.tgz", sha1: undefined },
      cloudProperties: { ram: 4096 },
      env: { bosh: { password: "*" } },
      tags: { owner: "lab" },
      networks: {
        default: {
          type: "manual",
          ip: "10.0.0.6",
          netmask: "255.255.255.0",
          gateway: "10.0.0.1",
          dns: ["10.0.0.2"],
          default: ["dns", "gateway"],
          cloud_properties: { net: "x" },
        },
      },
      persistentDisk: { size: 100, cloudProperties: { type: "ssd" } },
      watchMs: [0, 300_000],
      cloudProvider: {
        cpi: { kind: "exec", path: "/lab/cpi", configFile: "/lab/cpi.json" },
        properties: { a: 1, b: 2 },
        mbus: undefined,
        cert: undefined,
        registry: { host: undefined, sshTunnel: false },
      },
    });
  });

  it("may call its instance groups jobs, and give the size of its disk", () => {
    const { instance_groups: groups, disk_pools: _, ...rest } = whole();
    const [group] = groups as Tree[];
    const { persistent_disk_pool: __, ...other } = group as Tree;
    const manifest = { ...rest, jobs: [{ ...other, persistent_disk: 77 }] };
    expect(read(manifest).persistentDisk).toEqual({ size: 77, cloudProperties: {} });
  });

  it.each<[place: string, value: unknown, problem: RegExp]>([
    ["name", undefined, /name: Required property 'name' was not specified in object/],
    ["surprise", 1, /surprise: this key means nothing here/],
    [
      "releases",
      [{ name: "bosh" }],
      /releases\[bosh\]\.url: Required property 'url' was not specified in object/,
    ],
    ["instance_groups", [], /instance_groups: there are 0/],
    ["instance_groups.0.instances", 2, /instance_groups\[bosh\]\.instances: an environment has one VM/],
    [
      "instance_groups.0.jobs",
      [{ name: "director" }],
      /instance_groups\[bosh\]\.jobs\[director\]\.release: Required property 'release' was not specified/,
    ],
    ["instance_groups.0.lifecycle", "errand", /lifecycle: unknown value 'errand'/],
    ["instance_groups.0.resource_pool", "no", /resource_pool: there is no 'no' in resource_pools/],
    ["instance_groups.0.persistent_disk_pool", "no", /persistent_disk_pool: there is no 'no' in disk_pools/],
    ["instance_groups.0.persistent_disk", 5, /persistent_disk: there is a persistent_disk_pool too/],
    ["instance_groups.0.networks.0.name", "no", /networks\[no\]\.name: there is no network 'no'/],
    ["instance_groups.0.networks.0.static_ips", [], /static_ips: the VM needs exactly one address/],
    ["instance_groups.0.networks.0.static_ips", ["10.9.0.6"], /static_ips\[0\]: it is outside/],
    ["networks.0.subnets.0.gateway", "10.9.0.1", /gateway: .*must be inside the range/],
    ["networks.0.type", "odd", /networks\[default\]\.type: unknown value 'odd'/],
    [
      "disk_pools.0.disk_size",
      "big",
      /disk_pools\[disks\]\.disk_size: Property 'disk_size' value \(a string\) did not match/,
    ],
    ["resource_pools.0.stemcell", undefined, /resource_pools\[vms\]\.stemcell: it is required/],
    ["resource_pools.0.stemcell.url", "s.tgz", /stemcell\.url: this is neither a file/],
    ["resource_pools.0.stemcell.url", "https://e.test/s.tgz", /stemcell\.sha1: a stemcell from elsewhere/],
    [
      "resource_pools.0.env",
      { bosh: { mbus: { cert: { ca: "junk" } } } },
      /env\.bosh\.mbus\.cert\.ca: this is no certificate/,
    ],
    ["update", { update_watch_time: "soon" }, /update\.update_watch_time: Watch time should be an integer/],
    ["cloud_provider", undefined, /cloud_provider: it is required and missing/],
    ["cloud_provider.template", { name: "x", release: "y" }, /cloud_provider\.cpi: there is a template too/],
    ["cloud_provider.cpi", undefined, /cloud_provider\.cpi: it is required and missing/],
    ["cloud_provider.cpi", {}, /cloud_provider\.cpi: it names either an exec_path or a package/],
    ["cloud_provider.cpi", { package: "aws" }, /cloud_provider\.cpi/],
    ["cloud_provider.cpi", { package: "local", exec_path: "x" }, /it names either/],
    ["cloud_provider.cpi", { package: "local", odd: 1 }, /cloud_provider\.cpi\.odd/],
    ["cloud_provider.mbus", "https://10.0.0.6:6868", /mbus: it has no user and password/],
    ["cloud_provider.mbus", "nats://u:p@10.0.0.6:4222", /mbus: the agent is reached over https only/],
    ["cloud_provider.mbus", "https://u:p@0.0.0.0:6868", /mbus: it names no address/],
    ["cloud_provider.cert", { ca: "junk" }, /cert\.ca: this is no certificate/],
  ])("with %s = %j is refused, with the place", (place, value, problem) => {
    expect(problemsOf(changed(place, value))).toMatch(problem);
  });

  it("has all its problems reported at once", () => {
    const manifest = { ...changed("instance_groups.0.instances", 3), surprise: 1 };
    const text = problemsOf(manifest);
    for (const part of ["2 problems", "instances: ", "surprise: "]) expect(text).toContain(part);
    expect(problemsOf([])).toMatch(/expected a map, found a list/);
  });

  it("never has its password in a problem", () => {
    expect(problemsOf(changed("cloud_provider.mbus", "https://u:hunter2@:6868"))).not.toContain("hunter2");
  });
});
