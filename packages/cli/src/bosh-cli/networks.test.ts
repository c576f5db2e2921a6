import { readdir, readFile } from "node:fs/promises";
import { systemExec } from "@slipway/kernel/exec";
import { describe, expect, it } from "vitest";
import { cloudConfig, manifest } from "./testing/documents.ts";
import { canPlay, PROGRAMS } from "./testing/requirements.ts";
import { ADMIN, type BoshWorld, openWorld } from "./testing/world.ts";

/** A network that the CPI makes: one subnet with a range, and one whose range it chooses. */
const withManaged = (net: string, ...more: readonly object[]): object => {
  const config = cloudConfig(net, [{ name: "z1" }, { name: "z2" }]) as {
    readonly networks: readonly object[];
  };
  const subnets = [
    { name: "one", range: `${net}.128/25`, gateway: `${net}.129`, azs: ["z1"] },
    { name: "two", netmask_bits: 28, azs: ["z2"], static: [] },
    ...more,
  ];
  // The other one has the rest of this story's addresses.
  const [{ subnets: _, ...rest }] = config.networks as readonly [{ readonly subnets: unknown }];
  const unmanaged = { ...rest, subnets: [{ range: `${net}.0/25`, gateway: `${net}.1`, azs: ["z1", "z2"] }] };
  return { ...config, networks: [unmanaged, { name: "made", type: "manual", managed: true, subnets }] };
};

const inNetwork = (name: string, network: string): object => {
  const made = manifest(name, { name: "web", instances: 2, azs: ["z1", "z2"] }) as {
    readonly instance_groups: readonly object[];
  };
  const groups = made.instance_groups.map((group) => ({ ...group, networks: [{ name: network }] }));
  return { ...made, instance_groups: groups };
};

const slipway = async (world: BoshWorld, ...args: readonly string[]) =>
  await systemExec(process.execPath, [PROGRAMS.slipway, ...args], {
    env: {
      ...{
        HOME: world.dir,
        BOSH_ENVIRONMENT: world.director.url,
        BOSH_CA_CERT: world.state("pki", "ca.crt"),
      },
      ...{ BOSH_CLIENT: ADMIN.name, BOSH_CLIENT_SECRET: ADMIN.password, BOSH_NON_INTERACTIVE: "true" },
    },
  });

describe.runIf(await canPlay())("managed networks with the real CLI", () => {
  const world = openWorld({ director: { enable_cpi_network_management: true } });
  const bosh = () => world().bosh;
  const deploy = async (name: string, network: string, ...flags: readonly string[]) =>
    await bosh().say(
      "-d",
      name,
      "deploy",
      await world().file(`${name}.yml`, inNetwork(name, network)),
      ...flags,
    );
  const inCloud = () => readdir(world().cloud("networks")).catch(() => []);
  const useConfig = async (config: object) =>
    await bosh().run("update-cloud-config", await world().file("cloud.yml", config));

  it("are made by the CPI for the first deployment that uses them, and shared with the next", async () => {
    await world().seed();
    await useConfig(withManaged(world().net));
    expect((await deploy("shop", "made", "--dry-run")).text).toContain("the CPI chooses its range");
    expect(await inCloud()).toEqual([]);
    const { code, text } = await deploy("shop", "made");
    expect([code, text]).toEqual([0, expect.stringContaining("Creating managed networks: made")]);
    const cids = await inCloud();
    expect(cids).toHaveLength(2);
    const ips = (await world().instances("shop")).map(({ ips: ip }) => ip);
    expect(ips).toEqual([`${world().net}.130`, expect.stringMatching(/^127\.2\d\d\.0\.2$/)]);
    const again = await deploy("other", "made");
    expect([again.code, again.text]).toEqual([0, expect.not.stringContaining("Creating managed networks")]);
    expect(await inCloud()).toEqual(cids);
    expect(await bosh().rows("networks", "--orphaned")).toEqual([]);
    const { stdout: all, stderr } = await slipway(world(), "networks");
    expect(stderr).toBe("");
    for (const word of ["made", `${world().net}.128/25`, "other", "shop", ...cids])
      expect(all).toContain(word);
  });

  it("stay as they were made: a cloud config that wants another range or one more subnet is refused", async () => {
    await useConfig(withManaged(world().net, { name: "three", netmask_bits: 28, azs: ["z1"] }));
    expect((await deploy("shop", "made")).text).toContain("cannot find subnet: three in the database");
    const changed = JSON.stringify(withManaged(world().net))
      .replace(".128/25", ".192/26")
      .replace(".129", ".193");
    await useConfig(JSON.parse(changed) as object);
    expect((await deploy("shop", "made")).text).toContain("cannot be changed");
    await useConfig(withManaged(world().net));
    expect((await deploy("shop", "made")).code).toBe(0);
  });

  it("are orphaned when the last deployment leaves, and taken back when one comes", async () => {
    await bosh().run("-d", "other", "delete-deployment");
    // The CLI takes what is not in the list of orphaned ones for deleted.
    await bosh().run("delete-network", "made");
    const refused = await slipway(world(), "delete-network", "made");
    expect(refused.stderr).toContain("Deleting unorphaned network is not supported: made (used by shop)");
    expect(await inCloud()).toHaveLength(2);
    expect((await deploy("shop", "private")).code).toBe(0);
    expect(await bosh().rows("networks", "--orphaned")).toMatchObject([
      {
        name: "made",
        type: "manual",
        created_at: expect.stringMatching(/./),
        orphaned_at: expect.stringMatching(/./),
      },
    ]);
    const events = await bosh().rows("events", "--object-type", "network");
    expect(events).toMatchObject([{ action: "orphan", object_name: "made", deployment: "shop" }]);
    expect((await deploy("shop", "made")).code).toBe(0);
    expect(await bosh().rows("networks", "--orphaned")).toEqual([]);
    await bosh().run("-d", "shop", "delete-deployment");
    expect(await bosh().rows("networks", "--orphaned")).toMatchObject([{ name: "made" }]);
    expect(await inCloud()).toHaveLength(2);
  });

  it("are deleted by name, when nobody uses them any more", async () => {
    const { text } = await bosh().run("delete-network", "made");
    expect(text).toContain("Deleting orphaned networks: Deleting orphaned network made");
    expect(await inCloud()).toEqual([]);
    expect(await bosh().rows("networks", "--orphaned")).toEqual([]);
    expect(await bosh().refused("networks")).toContain("Only --orphaned is supported");
    // As upstream's CLI has it: what is not there is deleted.
    await bosh().run("delete-network", "made");
    expect((await slipway(world(), "delete-network", "made")).code).toBe(0);
  });
});

describe.runIf(await canPlay())("a Director that has no networks made, with the real CLI", () => {
  const world = openWorld();

  it("says so", async () => {
    await world().seed();
    await world().bosh.run("update-cloud-config", await world().file("cloud.yml", withManaged(world().net)));
    const path = await world().file("shop.yml", inNetwork("shop", "made"));
    expect(await world().bosh.refused("-d", "shop", "deploy", path)).toContain(
      "enable_cpi_network_management",
    );
  });

  it("hands out prefixes, and moves instances whose addresses a changed cloud config takes back", async () => {
    const { net } = world();
    const use = async (given: object) => {
      const subnets = [{ range: `${net}.0/24`, gateway: `${net}.1`, azs: ["z1"], ...given }];
      const config = { ...cloudConfig(net), networks: [{ name: "private", type: "manual", subnets }] };
      await world().bosh.run("update-cloud-config", await world().file("cloud.yml", config));
      await world().deploy("shop", [{ name: "web" }]);
      return (await world().instances("shop")).map(({ ips }) => ips);
    };
    expect(await use({ prefix: 29 })).toEqual([`${net}.8/29`]);
    expect(await use({ prefix: 29, reserved: [`${net}.12`] })).toEqual([`${net}.16/29`]);
    expect(await use({})).toEqual([`${net}.2`]);
    expect(await use({ reserved: [`${net}.2-${net}.9`] })).toEqual([`${net}.10`]);
  });

  it("gives instances several networks: static, dynamic and floating ones, with the properties of zones and sizes", async () => {
    const { net } = world();
    const subnet = (last: number, az: string) => ({
      range: `${net}.${last}/25`,
      gateway: `${net}.${last + 1}`,
      static: [`${net}.${last + 100}-${net}.${last + 109}`],
      azs: [az],
    });
    const config = {
      ...cloudConfig(net, [{ name: "z1" }, { name: "z2" }]),
      networks: [
        { name: "private", type: "manual", subnets: [subnet(0, "z1"), subnet(128, "z2")] },
        { name: "given", type: "dynamic", subnets: [{ azs: ["z1", "z2"], dns: ["127.0.0.53"] }] },
        { name: "floating", type: "vip", cloud_properties: { pool: "x" } },
      ],
      vm_extensions: [
        { name: "one", cloud_properties: { a: 1, b: 1, cpu: 9 } },
        { name: "two", cloud_properties: { b: 2 } },
      ],
    };
    await world().bosh.run("update-cloud-config", await world().file("cloud.yml", config));
    const [base] = (manifest("several", { name: "web" }) as { instance_groups: [{ vm_type: string }] })
      .instance_groups;
    const { vm_type: _, ...group } = base;
    const sized = {
      ...{ instances: 2, azs: ["z1", "z2"], vm_extensions: ["one", "two"] },
      vm_resources: { cpu: 1, ram: 256, ephemeral_disk_size: 1024 },
    };
    const deployed = async (networks: readonly object[]) => {
      const groups = [{ ...group, ...sized, networks }];
      const path = await world().file("several.yml", { ...manifest("several"), instance_groups: groups });
      return await world().bosh.say("-d", "several", "deploy", path);
    };
    const [first, second] = [`${net}.100`, `${net}.228`];
    const networks = [
      { name: "private", static_ips: [second, first] },
      { name: "given" },
      { name: "floating", static_ips: ["192.0.2.7", "192.0.2.8"] },
    ];
    expect((await deployed(networks)).text).toContain(
      "Instance group 'web' must specify which network is default for dns, gateway, since it has more than one network configured",
    );
    const [fixed, ...others] = networks;
    const { code, text } = await deployed([{ ...fixed, default: ["dns", "gateway"] }, ...others]);
    expect([code, text]).toEqual([0, expect.stringContaining("Succeeded")]);
    const rows = await world().instances("several");
    // The CPI's choice, not the machine's own address.
    const learned = expect.stringMatching(/^127\.254\.\d+\.\d+$/);
    expect(rows.map(({ az, ips }) => [az, ips?.split(/\s+/)])).toEqual([
      ["z2", expect.arrayContaining([second, learned, "192.0.2.7"])],
      ["z1", expect.arrayContaining([first, learned, "192.0.2.8"])],
    ]);
    const userData = await readFile(world().cloud("vms", rows[0]?.vm_cid ?? "", "user-data.json"), "utf8");
    expect(JSON.parse(userData)).toMatchObject({
      networks: {
        private: { type: "manual", ip: second, default: ["dns", "gateway"], gateway: `${net}.129` },
        given: { type: "dynamic", ip: learned, dns: ["127.0.0.53"] },
        floating: { type: "vip", ip: "192.0.2.7", cloud_properties: { pool: "x" } },
      },
    });
    const [{ cloud_properties: properties = "" } = {}] = await world().bosh.rows(
      "-d",
      "several",
      "vms",
      "--cloud-properties",
    );
    // Extensions in their order, and what the CPI makes of the sizes over them.
    for (const line of [/a"?: 1/, /b"?: 2/, /cpu"?: 1/, /ram"?: 256/]) expect(properties).toMatch(line);
  });
});
