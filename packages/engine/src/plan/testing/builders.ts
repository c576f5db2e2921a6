import type { StemcellCid } from "@slipway/protocol/ids";
import type { PlanProblem } from "../../documents/problems.ts";
import { parseRange } from "../../manifest/ip.ts";
import type {
  CloudConfig,
  InstanceGroup,
  IpRange,
  Manifest,
  ManualNetwork,
  ManualSubnet,
  UpdatePolicy,
} from "../../manifest/model.ts";
import type { GroupName, InstanceUuid } from "../../model/names.ts";
import type { StemcellRecord } from "../../model/records.ts";
import type { Plan, PlanInput, PlanOptions } from "../model.ts";
import { plan } from "../plan.ts";

/** Small documents for tests: everything has a default, tests write what they are about. */

export const update = (given: Partial<UpdatePolicy> = {}): UpdatePolicy => ({
  canaries: { count: 1 },
  maxInFlight: { count: 2 },
  canaryWatchMs: [1000, 60_000],
  updateWatchMs: [2000, 70_000],
  serial: true,
  vmStrategy: "delete-create",
  initialDeployAzStrategy: "serial",
  ...given,
});

export const group = (
  name: string,
  instances: number,
  given: Partial<Omit<InstanceGroup, "name" | "instances">> = {},
): InstanceGroup => ({
  name: name as GroupName,
  instances,
  azs: undefined,
  lifecycle: "service",
  vmType: "small",
  vmResources: undefined,
  vmExtensions: [],
  stemcell: "default",
  persistentDisk: undefined,
  networks: [on("private")],
  update: update(),
  migratedFrom: [],
  env: {},
  tags: {},
  jobs: [],
  properties: {},
  ...given,
});

export const on = (name: string, ...staticIps: string[]): InstanceGroup["networks"][number] => ({
  name,
  staticIps,
  default: ["dns", "gateway"],
});

export const manifest = (groups: readonly InstanceGroup[], given: Partial<Manifest> = {}): Manifest => ({
  name: "shop",
  stemcells: [{ alias: "default", os: "ubuntu-jammy", name: undefined, version: "1.1" }],
  releases: [],
  update: update(),
  groups,
  tags: {},
  properties: {},
  features: { randomizeAzPlacement: false },
  addons: [],
  ...given,
});

export const ranges = (...texts: string[]): readonly IpRange[] =>
  texts.map((text) => {
    const range = parseRange(text);
    if (range === undefined) throw new Error(`not a range: ${text}`);
    return range;
  });

export const subnet = (range: string, given: Partial<ManualSubnet> = {}): ManualSubnet => ({
  range,
  gateway: range.replace(/\.\d+\/\d+$/, ".1"),
  dns: ["10.9.9.9"],
  azs: undefined,
  reserved: [],
  static: [],
  cloudProperties: {},
  ...given,
});

export const manual = (name: string, ...subnets: ManualSubnet[]): ManualNetwork => ({
  type: "manual",
  name,
  subnets,
});

export const cloud = (given: Partial<CloudConfig> = {}): CloudConfig => ({
  azs: ["z1", "z2", "z3"].map((name) => ({ name, cpi: undefined, cloudProperties: { zone: name } })),
  vmTypes: [
    { name: "small", cloudProperties: { cpu: 1 } },
    { name: "large", cloudProperties: { cpu: 8 } },
  ],
  vmExtensions: [{ name: "lb", cloudProperties: { pool: "web" } }],
  diskTypes: [
    { name: "d1", size: 1024, cloudProperties: { kind: "slow" } },
    { name: "d2", size: 2048, cloudProperties: { kind: "slow" } },
    { name: "d2-fast", size: 2048, cloudProperties: { kind: "fast" } },
  ],
  networks: [manual("private", subnet("10.0.0.0/16"))],
  compilation: undefined,
  ...given,
});

/** Subnets of three zones. */
export const zoned = (): CloudConfig =>
  cloud({
    networks: [
      manual(
        "private",
        ...["z1", "z2", "z3"].map((az, at) =>
          subnet(`10.${at}.0.0/24`, { azs: [az], static: ranges(`10.${at}.0.100-10.${at}.0.119`) }),
        ),
      ),
    ],
  });

export const stemcell = (
  version: string,
  cpi = "",
  id = Number(version.replace(".", "")),
): StemcellRecord => ({
  id,
  name: "bosh-docker-ubuntu-jammy",
  version,
  operatingSystem: "ubuntu-jammy",
  cid: `sc-${version}-${cpi}` as StemcellCid,
  cpi,
  apiVersion: 3,
});

/** A CPI config; `before`: names of before, and whose they are today. */
export const cpis = (
  names: readonly string[],
  before: Readonly<Record<string, string>> = {},
): NonNullable<PlanInput["cpis"]> => ({ names, nameOf: (name) => before[name] ?? name });

export const options = (given: Partial<PlanOptions> = {}): PlanOptions => ({
  recreate: false,
  recreateDisksCreatedBefore: undefined,
  recreateVmsCreatedBefore: undefined,
  fix: false,
  canaries: undefined,
  maxInFlight: undefined,
  skipDrain: [],
  state: undefined,
  ...given,
});

export function input(
  given: Omit<Partial<PlanInput>, "options"> & { readonly options?: Partial<PlanOptions> } = {},
): PlanInput {
  let count = 0;
  return {
    manifest: manifest([group("web", 1)]),
    cloudConfig: cloud(),
    instances: [],
    agents: new Map(),
    takenIps: new Map(),
    stemcells: [stemcell("1.1"), stemcell("1.2")],
    newUuid: () => {
      count += 1;
      return `u${String(count).padStart(6, "0")}` as InstanceUuid;
    },
    fraction: () => 0,
    director: { name: "director", enableCpiResizeDisk: false, enableCpiUpdateDisk: false },
    firstDeploy: false,
    ...given,
    options: options(given.options),
  };
}

export function planned(given: PlanInput): Plan {
  const result = plan(given);
  if (result.ok) return result.plan;
  throw new Error(result.problems.map((one) => `${one.code} ${one.where}: ${one.problem}`).join("\n"));
}

export function refused(given: PlanInput): readonly PlanProblem[] {
  const result = plan(given);
  if (result.ok) throw new Error("it was planned");
  return result.problems;
}

/** Returns the ids of the surplus instances. */
export const surplus = ({ groups }: Plan) =>
  groups
    .flat()
    .flatMap((one) => one.surplus.map(({ recorded }) => recorded?.uuid))
    .join(" ");
