import { isObject } from "@slipway/protocol/schema/json";
import { type Fields, fieldsOf } from "../documents/fields.ts";
import { didYouMean, type Report, shown } from "../documents/problems.ts";
import { own } from "../documents/tree.ts";
import type { CloudConfig } from "./model.ts";

const UNKNOWN_NETWORK = 120001;
const INVALID_AZ = 120002;
const INVALID_VM_TYPE = 120003;
const SEVERAL_KINDS = 120007;
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
  // As upstream: what is empty says nothing.
  const kinds = ["vm_type", "vm_resources", "cloud_properties"].filter((key) =>
    saysMore(own(fields.map, key)),
  );
  if (kinds.length > 1) {
    fields.wrong(
      SEVERAL_KINDS,
      kinds[1] ?? "",
      "Compilation config specifies more than one of 'vm_type', 'vm_resources', or 'cloud_properties', " +
        `only one is allowed: ${kinds.join(" and ")} are given`,
      "Keep one of them.",
    );
  }
  const vmType = fields.text("vm_type");
  if (vmType !== undefined && !config.vmTypes.some((one) => one.name === vmType)) {
    fields.wrong(
      INVALID_VM_TYPE,
      "vm_type",
      unknown("vm type", vmType, `Known vm types are: ${list(config.vmTypes)}`),
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
      `Compilation config references an unknown network '${shown(name)}'`,
      `${didYouMean(
        name,
        config.networks.map((one) => one.name),
      )}Add it to networks, or correct the name.`,
    );
  }
  const az = fields.text("az");
  if (az !== undefined && !config.azs.some((one) => one.name === az)) {
    fields.wrong(
      INVALID_AZ,
      "az",
      unknown("az", az, `Known azs are: [${list(config.azs)}]`),
      "Add it to azs, or correct the name.",
    );
    return;
  }
  if (network === undefined || network.type === "vip") return;
  const zones = new Set(network.subnets.flatMap((subnet) => subnet.azs ?? []));
  if (az === undefined ? zones.size > 0 : !zones.has(az)) {
    fields.wrong(
      INVALID_AZ,
      "az",
      `the network '${shown(network.name)}' has ${zones.size === 0 ? "no zones" : `the zones ${[...zones].map(shown).join(", ")}`}`,
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
        unknown("vm extension", extension, `Known vm extensions are: ${list(config.vmExtensions)}`),
        "Add it to vm_extensions, or correct the name.",
      );
    }
  }
  const [first] = fields.texts("vm_extensions") ?? [];
  if (first !== undefined && !fields.has("vm_type") && !fields.has("vm_resources")) {
    fields.wrong(
      SEVERAL_KINDS,
      "vm_extensions",
      `Compilation config is using vm extension '${shown(first)}' and must configure a vm type or vm_resources block`,
      "Give vm_type or vm_resources beside it.",
    );
  }
}

const saysMore = (value: unknown): boolean =>
  typeof value === "string" ? value !== "" : isObject(value) && Object.keys(value).length > 0;

const unknown = (what: string, name: string, known: string): string =>
  `Compilation config references unknown ${what} '${shown(name)}'. ${known}`;
const list = (named: readonly { readonly name: string }[]): string =>
  named.map(({ name }) => shown(name)).join(", ");
