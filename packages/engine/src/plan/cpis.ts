import type { Report } from "../documents/problems.ts";
import type { CloudConfig } from "../manifest/model.ts";
import type { CpiName } from "../model/names.ts";
import type { PlanInput } from "./model.ts";

type Zone = CloudConfig["azs"][number];

const NOT_FOUND = 550001;

/** The CPI of each zone. Undefined: it has none that could be used, which is reported once. */
export function cpisByZone(cpis: PlanInput["cpis"], report: Report): (zone: Zone) => CpiName | undefined {
  const found = new Map<string, CpiName | undefined>();
  return (zone) => {
    if (!found.has(zone.name)) found.set(zone.name, cpiOf(zone, cpis, report));
    return found.get(zone.name);
  };
}

function cpiOf({ name, cpi }: Zone, cpis: PlanInput["cpis"], report: Report): CpiName | undefined {
  const where = `azs[${name}].cpi`;
  if (cpis === undefined && cpi === undefined) return "";
  const today = cpi === undefined ? undefined : cpis?.nameOf(cpi);
  if (today !== undefined && cpis?.names.includes(today)) return today;
  if (cpi === undefined)
    report.add(
      NOT_FOUND,
      where,
      `AZ '${name}' must specify a CPI when CPI config is defined`,
      `Name one of ${listed(cpis)} in the cloud config.`,
    );
  else if (cpis === undefined)
    report.add(
      NOT_FOUND,
      where,
      `Failed to load CPI for AZ '${name}': CPI '${cpi}' not found in cpi-config (because cpi-config is not set)`,
      "Run update-cpi-config with it, or leave cpi out of the cloud config.",
    );
  else
    report.add(
      NOT_FOUND,
      where,
      `Failed to load CPI for AZ '${name}': CPI '${cpi}' not found in cpi-config`,
      `Name one of ${listed(cpis)} in the cloud config, or add it with update-cpi-config.`,
    );
  return undefined;
}

const listed = (cpis: PlanInput["cpis"]): string => (cpis?.names ?? []).map((one) => `'${one}'`).join(", ");
