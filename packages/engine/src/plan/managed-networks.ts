import type { PlanProblem } from "../documents/problems.ts";
import { newReport, type Report } from "../documents/problems.ts";
import { type ManagedNetworks, sameRange } from "../manifest/managed-subnets.ts";
import type { CloudConfig, Manifest, ManualNetwork, ManualSubnet } from "../manifest/model.ts";
import type { SubnetRecord } from "../model/records.ts";
import type { SubnetOrder } from "../steps/create_network.ts";
import { cpisByZone } from "./cpis.ts";
import type { PlanInput } from "./model.ts";

/** A managed network that a deployment uses. */
export interface WantedNetwork {
  readonly name: string;
  /** Subnets that the CPI has yet to make. */
  readonly missing: readonly SubnetOrder[];
  /** Left by one that was never finished, and not wanted like this any more. */
  readonly unwanted: readonly SubnetRecord[];
}

export type PlannedNetworks =
  | { readonly ok: true; readonly networks: readonly WantedNetwork[] }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

/** The managed networks of a deployment, against what was made of them. */
export function planNetworks(
  { manifest, cloudConfig, cpis }: Pick<PlanInput, "manifest" | "cloudConfig" | "cpis">,
  recorded: ManagedNetworks,
): PlannedNetworks {
  const report = newReport();
  const order = orders(cloudConfig, cpis, report);
  const networks = usedNetworks(manifest, cloudConfig).map((network) => {
    const made = recorded.get(network.name);
    const has = (made?.subnets ?? []).filter(
      (one) => made?.ready === true || network.subnets.some((subnet) => isLike(one, subnet)),
    );
    return {
      name: network.name,
      missing: network.subnets
        .filter(({ name }) => !has.some((one) => one.name === name))
        .flatMap((subnet) => order(network, subnet) ?? []),
      unwanted: (made?.subnets ?? []).filter((one) => !has.includes(one)),
    };
  });
  return report.problems.length > 0 ? { ok: false, problems: report.problems } : { ok: true, networks };
}

/** Returns the networks of the deployment's groups, and the one it compiles on. */
function usedNetworks({ groups }: Manifest, { networks, compilation }: CloudConfig) {
  const names = new Set(groups.flatMap((group) => group.networks.map(({ name }) => name)));
  if (groups.some(({ jobs }) => jobs.length > 0) && typeof compilation?.network === "string")
    names.add(compilation.network);
  return networks.filter(
    (network): network is ManualNetwork =>
      network.type === "manual" && network.managed === true && names.has(network.name),
  );
}

const isLike = (made: SubnetRecord, { name, range }: ManualSubnet): boolean =>
  made.name === name && (range === "" || sameRange(made.range, range));

/** Goes to the CPI of its first zone, with what its zones and the subnet itself say. */
function orders({ azs }: CloudConfig, cpis: PlanInput["cpis"], report: Report) {
  const cpiOf = cpisByZone(cpis, report);
  return (network: ManualNetwork, subnet: ManualSubnet): SubnetOrder | undefined => {
    const zones = (subnet.azs ?? []).flatMap((name) => azs.find((az) => az.name === name) ?? []);
    const [first] = zones;
    const cpi = first === undefined ? "" : cpiOf(first);
    if (cpi === undefined) return undefined;
    const { name = "", range, gateway, netmaskBits } = subnet;
    return {
      network: network.name,
      subnet: name,
      cpi,
      range: range === "" ? undefined : range,
      gateway: range === "" ? undefined : gateway,
      netmaskBits,
      cloudProperties: Object.fromEntries(
        [...zones, subnet].flatMap(({ cloudProperties }) => Object.entries(cloudProperties)),
      ),
    };
  };
}
