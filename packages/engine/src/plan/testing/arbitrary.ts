import fc from "fast-check";
import type { CloudConfig, InstanceGroup, Manifest } from "../../manifest/model.ts";
import type { StateChange } from "../model.ts";
import { cloud, group, manifest, manual, on, ranges, subnet, update } from "./builders.ts";

/** A small cloud with zones, a flat network, one of the cloud's own addresses, and floating ones. */
export const smallCloud = (dns: string): CloudConfig =>
  cloud({
    networks: [
      manual(
        "zoned",
        ...["z1", "z2", "z3"].map((az, at) =>
          subnet(`10.${at}.0.0/26`, {
            azs: [az],
            dns: [dns],
            reserved: ranges(`10.${at}.0.2-10.${at}.0.4`, `10.${at}.0.9`),
            static: ranges(`10.${at}.0.20-10.${at}.0.29`),
          }),
        ),
        // Shared by two zones.
        subnet("10.7.0.0/27", { azs: ["z1", "z2"], dns: [dns], static: ranges("10.7.0.16-10.7.0.23") }),
      ),
      manual("flat", subnet("10.8.0.0/25", { dns: [dns], reserved: ranges("10.8.0.60-10.8.0.99") })),
      {
        type: "dynamic",
        name: "given",
        subnets: [{ azs: ["z1", "z2", "z3"], dns: [dns], cloudProperties: {} }],
      },
      {
        type: "vip",
        name: "floating",
        cloudProperties: {},
        subnets: [{ azs: undefined, static: ranges("192.0.2.1-192.0.2.60") }],
      },
    ],
  });

const common = {
  instances: fc.integer({ min: 0, max: 6 }),
  disk: fc.constantFrom(undefined, "d1", "d2", "d2-fast"),
  vmType: fc.constantFrom("small", "large"),
  strategy: fc.constantFrom("delete-create" as const, "create-swap-delete" as const),
  env: fc.constantFrom({}, { bosh: { swap_size: 0 } }),
};

const zones = fc.subarray(["z1", "z2", "z3"], { minLength: 1 });

const zonedGroup = fc.record({ ...common, azs: zones, dynamic: fc.boolean() }).map(
  (one): InstanceGroup =>
    group("zoned", one.instances, {
      ...parts(one),
      azs: one.azs,
      networks: one.dynamic ? [on("zoned"), { ...on("given"), default: [] }] : [on("zoned")],
    }),
);

const flatGroup = fc.record({ ...common, old: fc.boolean() }).map(
  (one): InstanceGroup =>
    group(one.old ? "flat" : "flat-renamed", one.instances, {
      ...parts(one),
      networks: [on("flat")],
      migratedFrom: one.old ? [] : [{ name: "flat", az: undefined }],
    }),
);

/** Generates a group with as many addresses as instances, in zones of the group. */
const staticGroup = fc
  .record({ ...common, azs: zones, picks: fc.subarray([...Array(10).keys()], { minLength: 6 }) })
  .map(({ azs, picks, ...one }): InstanceGroup => {
    const ips = picks.slice(0, one.instances).map((pick, at) => {
      const zone = azs[at % azs.length] ?? "z1";
      const shared = pick % 3 === 0 && (zone === "z1" || zone === "z2");
      return shared ? `10.7.0.${16 + (pick % 8)}` : `10.${["z1", "z2", "z3"].indexOf(zone)}.0.${20 + pick}`;
    });
    const unique = [...new Set(ips)];
    return group("fixed", unique.length, {
      ...parts(one),
      azs,
      networks: unique.length === 0 ? [on("zoned")] : [on("zoned", ...unique)],
    });
  });

const vipGroup = fc.record({ ...common, disk: fc.constant(undefined) }).map(
  (one): InstanceGroup =>
    group("vip", one.instances, {
      ...parts(one),
      networks: [on("flat"), { ...on("floating"), default: [] }],
    }),
);

const parts = (one: {
  readonly disk: string | undefined;
  readonly vmType: string;
  readonly strategy: "delete-create" | "create-swap-delete";
  readonly env: InstanceGroup["env"];
}) => ({
  persistentDisk: one.disk === undefined ? undefined : { type: one.disk },
  vmType: one.vmType,
  env: one.env,
  update: update({ vmStrategy: one.strategy, serial: one.vmType === "small" }),
});

export interface Deploy {
  readonly manifest: Manifest;
  readonly dns: string;
  readonly recreate: boolean;
  readonly renewDisks: boolean;
  readonly byCpi: boolean;
  /** Interval of instances whose agents are silent: every nth. */
  readonly silentEach: number;
  readonly state: StateChange | undefined;
  /** Steps until the Director is killed; undefined: it lives. */
  readonly killedAfter: number | undefined;
}

const states = ["started", "stopped", "detached", "restart", "recreate"] as const;

export const deploy: fc.Arbitrary<Deploy> = fc
  .record({
    groups: fc.tuple(
      fc.option(zonedGroup, { nil: undefined }),
      fc.option(flatGroup, { nil: undefined }),
      fc.option(staticGroup, { nil: undefined }),
      fc.option(vipGroup, { nil: undefined }),
    ),
    stemcell: fc.constantFrom("1.1", "1.2"),
    tags: fc.constantFrom({}, { team: "a" }),
    dns: fc.constantFrom("10.9.9.9", "10.9.9.8"),
    recreate: fc.constantFrom(false, false, false, true),
    renewDisks: fc.constantFrom(false, false, false, false, true),
    byCpi: fc.boolean(),
    silentEach: fc.constantFrom(0, 0, 0, 2, 5),
    to: fc.option(fc.constantFrom(...states), { nil: undefined, freq: 2 }),
    killedAfter: fc.option(fc.nat(80), { nil: undefined }),
  })
  .map(({ groups, stemcell, tags, to, ...rest }) => {
    const there = groups.filter((one) => one !== undefined);
    return {
      ...rest,
      manifest: manifest(there, {
        tags,
        stemcells: [{ alias: "default", os: "ubuntu-jammy", name: undefined, version: stemcell }],
      }),
      state: to && { group: undefined, instance: undefined, to },
    };
  });
