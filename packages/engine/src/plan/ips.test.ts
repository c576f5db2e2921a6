import { describe, expect, it } from "vitest";
import type { CloudConfig } from "../manifest/model.ts";
import {
  cloud,
  group,
  input,
  manifest,
  manual,
  on,
  planned,
  ranges,
  refused,
  subnet,
} from "./testing/builders.ts";
import { deployed, next } from "./testing/world.ts";

const flat = (given: Parameters<typeof subnet>[1], range = "10.0.0.0/28"): CloudConfig =>
  cloud({ networks: [manual("private", subnet(range, given))] });

const addresses = (cloudConfig: CloudConfig, count: number, taken: readonly string[] = []) =>
  planned(
    input({
      cloudConfig,
      manifest: manifest([group("web", count)]),
      takenIps: new Map(taken.map((ip) => [ip, "instance 'x/1' from deployment 'other'"])),
    }),
  ).desired.flatMap(({ ips }) => ips.map(({ address }) => address));

describe("an address that is not listed", () => {
  it.each([
    ["not the first nor the gateway", flat({}), [], ["10.0.0.2", "10.0.0.3", "10.0.0.4"]],
    ["a gateway elsewhere", flat({ gateway: "10.0.0.3" }), [], ["10.0.0.1", "10.0.0.2", "10.0.0.4"]],
    ["no gateway", flat({ gateway: undefined }), [], ["10.0.0.1", "10.0.0.2", "10.0.0.3"]],
    [
      "not a reserved one",
      flat({ reserved: ranges("10.0.0.2-10.0.0.8", "10.0.0.10") }),
      [],
      ["10.0.0.9", "10.0.0.11", "10.0.0.12"],
    ],
    [
      "not a static one, used or not",
      flat({ static: ranges("10.0.0.0/29") }),
      [],
      ["10.0.0.8", "10.0.0.9", "10.0.0.10"],
    ],
    [
      "not one that is taken",
      flat({}),
      ["10.0.0.2", "10.0.0.4", "10.0.0.5"],
      ["10.0.0.3", "10.0.0.6", "10.0.0.7"],
    ],
    [
      "the last but the broadcast address",
      flat({ reserved: ranges("10.0.0.1-10.0.0.11") }),
      [],
      ["10.0.0.12", "10.0.0.13", "10.0.0.14"],
    ],
  ] as const)("%s", (_, config, taken, expected) => {
    expect(addresses(config, 3, taken)).toEqual(expected);
  });

  it("comes from the first subnet that has one, in the order they are listed", () => {
    const config = cloud({ networks: [manual("private", subnet("10.5.0.0/30"), subnet("10.4.0.0/24"))] });
    expect(addresses(config, 3)).toEqual(["10.5.0.2", "10.4.0.2", "10.4.0.3"]);
  });

  it("comes from a subnet of the instance's zone", () => {
    const config = cloud({
      networks: [
        manual(
          "private",
          subnet("10.1.0.0/24", { azs: ["z1"] }),
          subnet("10.2.0.0/24", { azs: ["z2", "z3"] }),
        ),
      ],
    });
    const made = planned(
      input({ cloudConfig: config, manifest: manifest([group("web", 3, { azs: ["z1", "z2", "z3"] })]) }),
    );
    expect(made.desired.map(({ az, ips }) => [az, ips[0]?.address])).toEqual([
      ["z1", "10.1.0.2"],
      ["z2", "10.2.0.2"],
      ["z3", "10.2.0.3"],
    ]);
  });

  it("is unique in the Director where networks overlap", () => {
    const config = cloud({
      networks: [manual("a", subnet("10.0.0.0/24")), manual("b", subnet("10.0.0.0/24"))],
    });
    const made = planned(
      input({ cloudConfig: config, manifest: manifest([group("web", 2, { networks: [on("a"), on("b")] })]) }),
    );
    expect(made.desired.flatMap(({ ips }) => ips.map(({ address }) => address))).toEqual([
      "10.0.0.2",
      "10.0.0.3",
      "10.0.0.4",
      "10.0.0.5",
    ]);
  });

  it("is rejected with the network's name if no address is left", () => {
    const problems = refused(
      input({ cloudConfig: flat({}, "10.0.0.0/30"), manifest: manifest([group("web", 2)]) }),
    );
    expect(problems).toMatchObject([
      {
        code: 130011,
        where: "instance_groups/web/networks/private",
        problem: "Failed to reserve IP for 'web/u000002 (1)' for manual network 'private': no more available",
      },
    ]);
  });

  it("does not come from an address range that is walked through one by one", () => {
    const config = flat({ reserved: ranges("10.0.0.0-10.255.255.0") }, "10.0.0.0/8");
    expect(addresses(config, 1)).toEqual(["10.255.255.1"]);
  });
});

describe("a static address", () => {
  const config = flat({ static: ranges("10.0.0.8-10.0.0.11") });
  const fixed = (...ips: string[]) =>
    manifest([group("db", ips.length, { networks: [on("private", ...ips)] })]);

  it("is the one that is listed", () => {
    const made = planned(input({ cloudConfig: config, manifest: fixed("10.0.0.10", "10.0.0.8") }));
    expect(made.desired.map(({ ips }) => ips)).toEqual([
      [{ address: "10.0.0.10", network: "private", static: true }],
      [{ address: "10.0.0.8", network: "private", static: true }],
    ]);
  });

  it.each([
    ["10.0.0.5", 150002, "declares static ip '10.0.0.5', which belongs to no subnet"],
    ["10.9.0.5", 150002, "declares static ip '10.9.0.5', which belongs to no subnet"],
    [
      "10.0.0.9",
      130008,
      "Failed to reserve IP '10.0.0.9' for instance 'db/u000001 (0)': already reserved by instance 'x/1' from deployment 'other'",
    ],
    ["10.0.0.11", 130008, "already reserved by the Director"],
  ])("%s is refused", (ip, code, problem) => {
    const takenIps = new Map([
      ["10.0.0.9", "instance 'x/1' from deployment 'other'"],
      ["10.0.0.11", "the Director"],
    ]);
    const problems = refused(input({ cloudConfig: config, manifest: fixed(ip), takenIps }));
    expect(problems[0]?.code).toBe(code);
    expect(problems[0]?.problem).toContain(problem);
  });

  it("is rejected if two groups list it, naming the first", () => {
    const twice = manifest(
      ["a", "b"].map((name) => group(name, 1, { networks: [on("private", "10.0.0.9")] })),
    );
    expect(refused(input({ cloudConfig: config, manifest: twice }))[0]).toMatchObject({
      code: 130008,
      problem: expect.stringContaining("already reserved by instance 'a/u000001' from deployment 'shop'"),
    });
  });

  it("is not given to an instance that takes any address, wherever in the manifest it is listed", () => {
    const overlapping = cloud({
      networks: [
        manual("open", subnet("10.0.0.0/28")),
        manual("private", subnet("10.0.0.0/28", { static: ranges("10.0.0.2-10.0.0.4") })),
      ],
    });
    const both = manifest([
      group("web", 1, { networks: [on("open")] }),
      group("db", 1, { networks: [on("private", "10.0.0.2")] }),
    ]);
    const made = planned(input({ cloudConfig: overlapping, manifest: both }));
    expect(made.desired.map(({ ips }) => ips[0]?.address)).toEqual(["10.0.0.3", "10.0.0.2"]);
  });
});

describe("an address that is held", () => {
  const one = { manifest: manifest([group("web", 1)]) };
  const now = (cloudConfig: CloudConfig, groups = one.manifest) => {
    const world = deployed({ ...one, cloudConfig: flat({ gateway: "10.0.0.14" }) });
    const made = next(world, { cloudConfig, manifest: groups });
    const [update] = made.groups
      .flat()
      .flatMap(({ batches }) => batches.flatMap(({ instances }) => instances));
    return [made.desired[0]?.ips[0]?.address, update?.changes.map(({ reason }) => reason) ?? []];
  };

  it.each([
    ["stays while it may", flat({ gateway: "10.0.0.14", reserved: ranges("10.0.0.2") }), ["10.0.0.1", []]],
    [
      "is replaced when it becomes reserved",
      flat({ gateway: "10.0.0.14", reserved: ranges("10.0.0.1") }),
      ["10.0.0.2", ["network 'private': ip 10.0.0.1 -> 10.0.0.2"]],
    ],
    [
      "is replaced when it becomes static",
      flat({ gateway: "10.0.0.14", static: ranges("10.0.0.1-10.0.0.3") }),
      ["10.0.0.4", ["network 'private': ip 10.0.0.1 -> 10.0.0.4"]],
    ],
    [
      "is replaced when its subnet is gone",
      flat({ gateway: "10.0.1.14" }, "10.0.1.0/28"),
      [
        "10.0.1.1",
        ["network 'private': ip 10.0.0.1 -> 10.0.1.1", "network 'private': gateway 10.0.0.14 -> 10.0.1.14"],
      ],
    ],
  ] as const)("%s", (_, config, expected) => {
    expect(now(config)).toEqual(expected);
  });

  it("stays when the network gets another name", () => {
    const renamed = cloud({ networks: [manual("inner", subnet("10.0.0.0/28", { gateway: "10.0.0.14" }))] });
    expect(now(renamed, manifest([group("web", 1, { networks: [on("inner")] })]))).toEqual([
      "10.0.0.1",
      ["network 'private' dropped", "network 'inner' added"],
    ]);
  });

  it("stays with the right network when one of two is added before it", () => {
    const two = cloud({
      networks: [
        manual("extra", subnet("10.0.0.0/28", { gateway: "10.0.0.14" })),
        manual("private", subnet("10.0.0.0/28", { gateway: "10.0.0.14" })),
      ],
    });
    const world = deployed({ ...one, cloudConfig: flat({ gateway: "10.0.0.14" }) });
    const both = manifest([group("web", 1, { networks: [on("extra"), on("private")] })]);
    const made = next(world, { cloudConfig: two, manifest: both });
    expect(made.desired[0]?.ips).toEqual([
      { address: "10.0.0.2", network: "extra", static: false },
      { address: "10.0.0.1", network: "private", static: false },
    ]);
  });

  it("is free again for others only after the deploy that gives it up", () => {
    const world = deployed({ manifest: manifest([group("web", 2)]), cloudConfig: flat({}) });
    const swapped = { manifest: manifest([group("web", 0), group("new", 1)]), cloudConfig: flat({}) };
    expect(next(world, swapped).desired[0]?.ips[0]?.address).toBe("10.0.0.4");
  });
});
