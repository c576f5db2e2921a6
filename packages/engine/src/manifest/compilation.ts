import { type Fields, fieldsOf, MISSING } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";
import type { CloudConfig } from "./model.ts";

const UNKNOWN_NETWORK = 120001;
const INVALID_AZ = 120002;
const INVALID_VM_TYPE = 120003;
const SEVERAL_KINDS = 120004;
const INVALID_EXTENSION = 120005;

/** The section `compilation`, against the rest of the cloud config. */
export function checkCompilation(
  report: Report,
  fields: Fields,
  config: Pick<CloudConfig, "azs" | "vmTypes" | "vmExtensions" | "networks">,
): void {
  fields.needWhole("workers", "Give the number of VMs that compile at once.", { min: 1 });
  fields.flag("reuse_compilation_vms");
  fields.flag("orphan_workers");
  fields.object("env");
  checkPlace(fields, config);
  const kinds = ["vm_type", "vm_resources", "cloud_properties"].filter((key) => fields.has(key));
  if (kinds.length > 1) {
    fields.wrong(SEVERAL_KINDS, kinds[1] ?? "", `${kinds.join(" and ")} are given`, "Keep one of them.");
  }
  const vmType = fields.text("vm_type");
  if (vmType !== undefined && !config.vmTypes.some((one) => one.name === vmType)) {
    fields.wrong(
      INVALID_VM_TYPE,
      "vm_type",
      unknown("VM type", vmType),
      "Add it to vm_types, or correct the name.",
    );
  }
  const resources = fields.object("vm_resources");
  if (resources !== undefined) {
    const inner = fieldsOf(report, resources, fields.at("vm_resources"));
    for (const key of ["cpu", "ram", "ephemeral_disk_size"]) {
      inner.needWhole(key, "Give a whole number.", { min: 1 });
    }
  }
  fields.object("cloud_properties");
  checkExtensions(fields, config);
}

function checkPlace(fields: Fields, config: Pick<CloudConfig, "azs" | "networks">): void {
  const name = fields.needText("network", "Name the network to compile on.");
  const network = config.networks.find((one) => one.name === name);
  if (name !== undefined && network === undefined) {
    fields.wrong(
      UNKNOWN_NETWORK,
      "network",
      unknown("network", name),
      "Add it to networks, or correct the name.",
    );
  }
  const az = fields.text("az");
  if (az !== undefined && !config.azs.some((one) => one.name === az)) {
    fields.wrong(INVALID_AZ, "az", unknown("availability zone", az), "Add it to azs, or correct the name.");
    return;
  }
  if (network === undefined || network.type === "vip") return;
  const zones = new Set(network.subnets.flatMap((subnet) => subnet.azs ?? []));
  if (az === undefined ? zones.size > 0 : !zones.has(az)) {
    fields.wrong(
      INVALID_AZ,
      "az",
      `the network '${shown(network.name)}' has ${zones.size === 0 ? "no zones" : `the zones ${list(zones)}`}`,
      zones.size === 0 ? "Remove az, or give the network's subnets zones." : "Name one of them.",
    );
  }
}

function checkExtensions(fields: Fields, config: Pick<CloudConfig, "vmExtensions">): void {
  for (const extension of fields.texts("vm_extensions") ?? []) {
    if (!config.vmExtensions.some((one) => one.name === extension)) {
      fields.wrong(
        INVALID_EXTENSION,
        "vm_extensions",
        unknown("VM extension", extension),
        "Add it to vm_extensions, or correct the name.",
      );
    }
  }
  if (fields.has("vm_extensions") && !fields.has("vm_type") && !fields.has("vm_resources")) {
    fields.wrong(MISSING, "vm_type", "vm_extensions need vm_type or vm_resources", "Give one of them.");
  }
}

const unknown = (what: string, name: string) => `there is no ${what} '${shown(name)}' in the cloud config`;
const list = (names: Iterable<string>) => [...names].map(shown).join(", ");
