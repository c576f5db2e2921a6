import { describe, expect, it } from "vitest";
import type { GroupName, InstanceUuid } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { Plan } from "./model.ts";
import {
  group,
  input,
  manifest,
  manual,
  on,
  planned,
  ranges,
  refused,
  subnet,
  surplus,
  zoned,
} from "./testing/builders.ts";
import { deployed, inputFor, next, type World } from "./testing/world.ts";

const Z = ["z1", "z2", "z3"];

/** `z1 z2! z2?`: zones of existing instances by index; `!` has a disk, `?` is ignored, `-` has no zone. */
function existing(text: string, name = "web"): InstanceRecord[] {
  return text
    .split(" ")
    .filter((one) => one !== "")
    .map((one, index) => ({
      id: index + 1,
      uuid: `${name}${index}` as InstanceUuid,
      group: name as GroupName,
      index,
      az: one.startsWith("-") ? null : one.slice(0, 2),
      state: "started",
      bootstrap: false,
      ignore: one.endsWith("?"),
      updateCompleted: true,
      spec: null,
      vms: [],
      disks: one.endsWith("!") ? [{ ...DISK, id: index + 1, cid: `d${index}` as never }] : [],
      ips: [],
    }));
}
const DISK = {
  size: 1,
  cloudProperties: {},
  cpi: "",
  active: true,
  attachedTo: null,
  hint: null,
  mounted: false,
};

const placements = ({ desired }: Plan) => desired.map(({ uuid, az }) => `${uuid}@${az ?? "-"}`).join(" ");
describe("without static addresses", () => {
  it.each([
    [
      "new ones go round the zones by name",
      "",
      4,
      ["z2", "z1", "z3"],
      "u000001@z1 u000002@z2 u000003@z3 u000004@z1",
      "",
    ],
    [
      "existing ones stay, the emptiest zone gets the new one",
      "z1 z2",
      3,
      Z,
      "web0@z1 web1@z2 u000001@z3",
      "",
    ],
    ["zones are evened out", "z1 z1 z1", 3, Z, "web0@z1 u000001@z2 u000002@z3", "web1 web2"],
    ["disks keep their zone, however uneven", "z1! z1! z1!", 3, Z, "web0@z1 web1@z1 web2@z1", ""],
    ["the zone with most existing ones is taken first", "z2 z3 z3", 1, Z, "web1@z3", "web0 web2"],
    [
      "a zone no longer listed is left, disk or not",
      "z1! z3!",
      2,
      ["z1", "z2"],
      "web0@z1 u000001@z2",
      "web1",
    ],
    ["disks survive scaling down", "z1 z1! z1 z1!", 2, ["z1"], "web1@z1 web3@z1", "web0 web2"],
    ["by lowest index among equals", "z1! z1! z1!", 2, ["z1"], "web0@z1 web1@z1", "web2"],
    ["ignored ones stay first", "z1 z1 z1?", 1, ["z1"], "web2@z1", "web0 web1"],
    ["without zones those with disks stay, then by index", "- -! -", 2, undefined, "web0@- web1@-", "web2"],
    ["zones taken from a group are forgotten", "z1 z2", 2, undefined, "web0@- web1@-", ""],
    ["instances without a zone do not count for one", "- -", 1, ["z1"], "u000001@z1", "web0 web1"],
    ["none at all", "z1 z2!", 0, Z, "", "web0 web1"],
  ] as const)("%s", (_, had, count, azs, expected, gone) => {
    const networks = azs === undefined ? [on("flat")] : [on("private")];
    const made = planned(
      input({
        cloudConfig: { ...zoned(), networks: [...zoned().networks, FLAT] },
        instances: existing(had),
        manifest: manifest([group("web", count, { azs, networks })]),
      }),
    );
    expect(placements(made)).toBe(expected);
    expect(surplus(made)).toBe(gone);
  });

  it("takes zones by chance where that is asked for", () => {
    const random = manifest([group("web", 1, { azs: Z })], { features: { randomizeAzPlacement: true } });
    const made = planned(input({ cloudConfig: zoned(), manifest: random, fraction: () => 0.99 }));
    expect(placements(made)).toBe("u000001@z3");
  });

  it.each([
    [
      "z1? z1?",
      1,
      ["z1"],
      190021,
      "has 2 ignored instance(s). 1 instance(s) of that instance group were requested",
    ],
    ["z1?", 1, ["z2"], 190020, `no longer contains AZs ["z1"] where ignored instance(s) exist`],
  ])("ignored instances %s are not deleted nor moved", (had, count, azs, code, problem) => {
    const given = {
      cloudConfig: zoned(),
      instances: existing(had),
      manifest: manifest([group("web", count, { azs })]),
    };
    expect(refused(input(given))[0]).toMatchObject({ code, problem: expect.stringContaining(problem) });
  });
});
const FLAT = {
  type: "dynamic",
  name: "flat",
  subnets: [{ azs: undefined, dns: [], cloudProperties: {} }],
} as const;

describe("who an instance is", () => {
  it("has the lowest index that no other instance has, not even one that is leaving", () => {
    const had = existing("z1 z1 z2").map((one, at) => ({ ...one, index: [0, 2, 5][at] ?? 0 }));
    const made = planned(
      input({ cloudConfig: zoned(), instances: had, manifest: manifest([group("web", 5, { azs: ["z2"] })]) }),
    );
    expect(made.desired.map(({ index }) => index)).toEqual([1, 3, 4, 5, 6]);
  });

  it.each([
    ["its holder keeps it", "z1 z1 z1", [2], 2],
    ["the lowest index gets it when nobody has it", "z1 z1", [], 0],
    ["the lowest index gets it when several have it", "z1 z1 z1", [1, 2], 0],
    ["the lowest index gets it when its holder leaves", "z1 z1 z3", [2], 0],
  ])("bootstrap: %s", (_, had, holders, expected) => {
    const instances = existing(had).map((one) => ({ ...one, bootstrap: holders.includes(one.index) }));
    const count = had.includes("z3") ? 2 : instances.length;
    const made = planned(
      input({ cloudConfig: zoned(), instances, manifest: manifest([group("web", count, { azs: ["z1"] })]) }),
    );
    expect(made.desired.filter(({ bootstrap }) => bootstrap).map(({ index }) => index)).toEqual([expected]);
  });

  it("does not change when its group is migrated; index and group do", () => {
    const had = [...existing("z1 z1!", "old"), ...existing("z2", "web")];
    const made = planned(
      input({
        cloudConfig: zoned(),
        instances: had,
        manifest: manifest([
          group("web", 3, { azs: Z.slice(0, 2), migratedFrom: [{ name: "old", az: undefined }] }),
        ]),
      }),
    );
    expect(made.desired.map(({ group: name, uuid, index }) => `${name}/${uuid}/${index}`)).toEqual([
      "web/web0/0",
      "web/old0/1",
      "web/old1/2",
    ]);
    expect(made.obsolete).toEqual([]);
  });

  it.each([
    [
      "the old group is still there",
      "-",
      [{ name: "old", az: "z1" }],
      true,
      "can not migrate an instance group and also specify it",
    ],
    [
      "the zone is not said",
      "-",
      [{ name: "old", az: undefined }],
      false,
      "availability zone of 'old' is not specified",
    ],
    [
      "another zone is said",
      "z2",
      [{ name: "old", az: "z1" }],
      false,
      "'old' belongs to availability zone 'z2' and manifest specifies 'z1'",
    ],
  ])("is not migrated when %s", (_, had, migratedFrom, both, problem) => {
    const groups = [
      group("web", 1, { azs: ["z1"], migratedFrom }),
      ...(both ? [group("old", 1, { azs: ["z1"] })] : []),
    ];
    const given = { cloudConfig: zoned(), instances: existing(had, "old"), manifest: manifest(groups) };
    expect(refused(input(given))[0]).toMatchObject({
      code: 190018,
      problem: expect.stringContaining(problem),
    });
  });

  it("is in the zone the manifest says it was in", () => {
    const migratedFrom = [{ name: "old", az: "z2" }];
    const given = { cloudConfig: zoned(), instances: existing("-!", "old") };
    const made = planned(
      input({ ...given, manifest: manifest([group("web", 1, { azs: Z, migratedFrom })]) }),
    );
    expect(placements(made)).toBe("old0@z2");
  });

  it("is deleted with its group, unless it is ignored", () => {
    const given = { cloudConfig: zoned(), manifest: manifest([]) };
    expect(planned(input({ ...given, instances: existing("z1 z2!") })).obsolete).toHaveLength(2);
    expect(refused(input({ ...given, instances: existing("z1?") }))[0]?.code).toBe(190021);
  });
});

describe("with static addresses", () => {
  const fixed = (azs: readonly string[], ...ips: string[]) => ({
    cloudConfig: zoned(),
    manifest: manifest([group("db", ips.length, { azs, networks: [on("private", ...ips)] })]),
  });
  const twoNetworks = () => {
    const config = zoned();
    const other = manual("other", subnet("10.9.0.0/24", { azs: ["z1"], static: ranges("10.9.0.100") }));
    const networks = [on("private", "10.0.0.100"), on("other", "10.9.0.100")];
    return {
      cloudConfig: { ...config, networks: [...config.networks, other] },
      manifest: manifest([group("db", 1, { azs: ["z1"], networks })]),
    };
  };

  it("every network gives one address of the same zone", () => {
    const made = planned(input(twoNetworks()));
    expect(made.desired[0]?.ips.map(({ address }) => address)).toEqual(["10.0.0.100", "10.9.0.100"]);
    world = deployed(fixed(["z1"], "10.0.0.100"));
    const [grown] = next(world, twoNetworks()).desired;
    expect([grown?.uuid, grown?.ips.map(({ address }) => address)]).toEqual([
      world.instances[0]?.uuid,
      ["10.0.0.100", "10.9.0.100"],
    ]);
  });

  const ips = (plan: Plan) => plan.desired.map(({ uuid, az, ips: [ip] }) => `${uuid}@${az} ${ip?.address}`);
  let world: World;

  it("the zone follows the address", () => {
    expect(ips(planned(input(fixed(Z, "10.2.0.100", "10.0.0.101", "10.0.0.100"))))).toEqual([
      "u000001@z3 10.2.0.100",
      "u000002@z1 10.0.0.101",
      "u000003@z1 10.0.0.100",
    ]);
  });

  it("an instance keeps the address it holds, in whatever order they are listed", () => {
    world = deployed(fixed(Z, "10.0.0.100", "10.1.0.100"));
    const made = next(world, fixed(Z, "10.2.0.100", "10.1.0.100", "10.0.0.100"));
    const kept = world.instances.map(({ uuid, ips: [ip] }) => `${uuid} ${ip?.address}`);
    expect(made.desired.map(({ uuid, ips: [ip] }) => `${uuid} ${ip?.address}`)).toEqual(
      expect.arrayContaining(kept),
    );
    expect(made.missingVms).toHaveLength(1);
  });

  it("an instance whose address is gone gets another of its zone", () => {
    world = deployed(fixed(Z, "10.0.0.100", "10.1.0.100"));
    const made = next(world, fixed(Z, "10.0.0.105", "10.1.0.100"));
    expect(made.desired.map(({ az, ips: [ip] }) => `${az} ${ip?.address}`).sort()).toEqual([
      "z1 10.0.0.105",
      "z2 10.1.0.100",
    ]);
    expect(made.missingVms).toEqual([]);
  });

  it("an instance whose zone has no address left is replaced by one where there is", () => {
    world = deployed(fixed(Z, "10.0.0.100", "10.1.0.100"));
    const made = next(world, fixed(Z, "10.2.0.100", "10.1.0.100"));
    expect(surplus(made)).toBe(world.instances.find(({ az }) => az === "z1")?.uuid);
    expect(made.missingVms).toHaveLength(1);
  });

  it("an address of no zone of the group is refused", () => {
    expect(refused(input(fixed(["z1"], "10.1.0.100")))[0]).toMatchObject({
      code: 150007,
      problem: expect.stringContaining("does not belong to any of the instance group's availability zones"),
    });
  });

  it.each([
    ["its address is taken away", fixed(["z1"], "10.0.0.101"), "an attempt was made to remove a static ip"],
    ["it gets a network", twoNetworks(), "an attempt was made to modify the networks"],
  ])("an ignored instance is left alone: %s", (_, now, problem) => {
    world = deployed(fixed(["z1"], "10.0.0.100"));
    for (const one of world.instances) one.ignore = true;
    expect(refused(inputFor(world, now))[0]).toMatchObject({
      code: 190020,
      problem: expect.stringContaining(problem),
    });
  });

  const both = (z1: readonly string[], z2: readonly string[]) => {
    const config = zoned();
    const shared = manual(
      "shared",
      subnet("10.9.0.0/24", { azs: ["z1", "z2"], static: ranges("10.9.0.100-10.9.0.109") }),
    );
    const networks = [on("private", ...z1), on("shared", ...z2)];
    return {
      cloudConfig: { ...config, networks: [...config.networks, shared] },
      manifest: manifest([group("db", z1.length, { azs: ["z1", "z2"], networks })]),
    };
  };

  it("addresses of a subnet of several zones go where those of the other network are", () => {
    const made = planned(input(both(["10.0.0.100", "10.1.0.100"], ["10.9.0.101", "10.9.0.100"])));
    expect(made.desired.map(({ az, ips: all }) => [az, ...all.map(({ address }) => address)])).toEqual([
      ["z1", "10.0.0.100", "10.9.0.101"],
      ["z2", "10.1.0.100", "10.9.0.100"],
    ]);
  });

  it("addresses of two networks that do not meet in the same zones are refused", () => {
    const config = zoned();
    const other = manual(
      "other",
      ...["z1", "z2"].map((az, at) =>
        subnet(`10.${at + 20}.0.0/24`, {
          azs: [az],
          static: ranges(`10.${at + 20}.0.100-10.${at + 20}.0.109`),
        }),
      ),
    );
    const networks = [on("private", "10.0.0.100", "10.0.0.101"), on("other", "10.20.0.100", "10.21.0.100")];
    const given = {
      cloudConfig: { ...config, networks: [...config.networks, other] },
      manifest: manifest([group("db", 2, { azs: ["z1", "z2"], networks })]),
    };
    expect(refused(input(given))).toMatchObject([
      {
        code: 150002,
        problem: "Failed to evenly distribute static IPs between zones for instance group 'db'",
      },
    ]);
  });

  it("an instance that holds an address which is another zone's now is refused", () => {
    world = deployed(fixed(Z, "10.0.0.100", "10.1.0.100"));
    const moved = zoned();
    const networks = [
      manual(
        "private",
        subnet("10.0.0.0/24", { azs: ["z3"], static: ranges("10.0.0.100-10.0.0.119") }),
        subnet("10.1.0.0/24", { azs: ["z2"], static: ranges("10.1.0.100-10.1.0.119") }),
        subnet("10.2.0.0/24", { azs: ["z1"] }),
      ),
    ];
    const now = { ...fixed(Z, "10.0.0.100", "10.1.0.100"), cloudConfig: { ...moved, networks } };
    expect(refused(inputFor(world, now))[0]).toMatchObject({
      code: 130010,
      problem: "Existing instance 'db/0' is using IP '10.0.0.100' in availability zone 'z1'",
    });
  });

  it("fewer addresses than instances are refused", () => {
    const few = manifest([group("db", 2, { azs: ["z1"], networks: [on("private", "10.0.0.100")] })]);
    expect(refused(input({ cloudConfig: zoned(), manifest: few }))[0]).toMatchObject({
      code: 150002,
      problem: "Instance group 'db' has 2 instances but was allocated 1 static IPs in network 'private'",
    });
  });
});
