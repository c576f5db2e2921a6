import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { type Fields, fieldsOf, MISSING, mapsOf, required, unique, WRONG_TYPE } from "../documents/fields.ts";
import type { PlanProblem } from "../documents/problems.ts";
import { newReport, type Report } from "../documents/problems.ts";
import { kindOf, own } from "../documents/tree.ts";
import { canonical, checkWord } from "./canonical.ts";
import { type NetworkRules, readNetwork } from "./cloud-networks.ts";
import { checkCompilation } from "./compilation.ts";
import type { ManagedNetworks } from "./managed-subnets.ts";
import type { CloudConfig } from "./model.ts";

export type ParsedCloudConfig =
  | { readonly ok: true; readonly cloudConfig: CloudConfig }
  /** `partly`: what could be read nevertheless. */
  | { readonly ok: false; readonly problems: readonly PlanProblem[]; readonly partly: CloudConfig };

const BAD_MANIFEST = 440001;
const BAD_MERGE = 570000;
const NO_NETWORKS = 190008;
const DUPLICATE_NETWORK = 190007;
const DUPLICATE_AZ = 190017;
const DUPLICATE_VM_TYPE = 190004;
const DUPLICATE_EXTENSION = 190005;
const DUPLICATE_DISK_TYPE = 190013;
const INVALID_DISK_SIZE = 200001;

const LISTS = ["azs", "vm_types", "vm_extensions", "disk_types", "networks"] as const;
type ListName = (typeof LISTS)[number];

/**
 * All active cloud configs of a deployment: their lists one after the other, `compilation` in one of them only. `managed`:
 * the networks that were made; undefined: this Director makes none. `noGateway`: subnets may be without one.
 */
export function parseCloudConfig(
  values: readonly unknown[],
  managed?: ManagedNetworks,
  noGateway = false,
): ParsedCloudConfig {
  const report = newReport();
  const merged = mergeConfigs(report, values);
  const cloudConfig = readCloudConfig(report, merged, values.length > 0, { managed, noGateway });
  return report.problems.length > 0
    ? { ok: false, problems: report.problems, partly: cloudConfig }
    : { ok: true, cloudConfig };
}

interface Merged {
  readonly lists: Readonly<Record<ListName, unknown[]>>;
  readonly given: ReadonlySet<string>;
  readonly compilation: JsonObject | undefined;
}

function mergeConfigs(report: Report, values: readonly unknown[]): Merged {
  const lists: Record<ListName, unknown[]> = {
    azs: [],
    vm_types: [],
    vm_extensions: [],
    disk_types: [],
    networks: [],
  };
  const given = new Set<string>();
  let compilation: JsonObject | undefined;
  if (values.length === 0) {
    report.add(NO_NETWORKS, "", "there is no cloud config", "Upload one with bosh update-cloud-config.");
  }
  for (const value of values) {
    if (!isObject(value)) {
      report.add(
        BAD_MANIFEST,
        "",
        `a cloud config must be a map, found ${kindOf(value)}`,
        "Upload it again.",
      );
      continue;
    }
    const fields = fieldsOf(report, value, "");
    for (const key of LISTS) {
      if (fields.has(key)) given.add(key);
      for (const item of fields.list(key) ?? []) lists[key].push(item);
    }
    if (fields.has("compilation") && given.has("compilation")) {
      report.add(BAD_MERGE, "compilation", "it is in more than one cloud config", "Keep it in one of them.");
    }
    if (fields.has("compilation")) {
      given.add("compilation");
      compilation = fields.object("compilation");
    }
  }
  return { lists, given, compilation };
}

function readCloudConfig(report: Report, merged: Merged, any: boolean, rules: NetworkRules): CloudConfig {
  const { lists } = merged;
  const azs = mapsOf(report, lists.azs, "azs").flatMap((fields) => {
    const named = readNamed(fields);
    const cpi = fields.text("cpi");
    return named === undefined ? [] : [{ ...named, cpi }];
  });
  const vmTypes = mapsOf(report, lists.vm_types, "vm_types").flatMap(some(readNamed));
  const vmExtensions = mapsOf(report, lists.vm_extensions, "vm_extensions").flatMap(some(readNamed));
  const diskTypes = mapsOf(report, lists.disk_types, "disk_types").flatMap(some(readDiskType));
  unique(report, DUPLICATE_AZ, azs, duplicate("az"));
  unique(report, DUPLICATE_VM_TYPE, vmTypes, duplicate("vm type"));
  unique(report, DUPLICATE_EXTENSION, vmExtensions, duplicate("vm extension"));
  unique(report, DUPLICATE_DISK_TYPE, diskTypes, duplicate("disk type"));
  const zones = new Set(azs.map((az) => az.name));
  const networks = mapsOf(report, lists.networks, "networks").flatMap((fields) => {
    const network = readNetwork(report, fields, zones, rules);
    return network === undefined ? [] : [{ network, name: network.name, where: fields.at("name") }];
  });
  unique(report, DUPLICATE_NETWORK, networks, {
    form: canonical,
    say: (name) => `Invalid network name '${name}', canonical name already taken`,
  });
  if (any && !merged.given.has("networks")) {
    report.add(MISSING, "networks", required("networks"), "Define at least one network.");
  } else if (merged.given.has("networks") && lists.networks.length === 0) {
    report.add(NO_NETWORKS, "networks", "No networks specified", "Define at least one network.");
  }
  if (any && !merged.given.has("compilation")) {
    report.add(
      MISSING,
      "compilation",
      required("compilation"),
      "Give one: compilation: {workers: 1, network: private, az: z1, vm_type: small}.",
    );
  }
  const config = {
    azs: azs.map(({ name, cpi, cloudProperties }) => ({ name, cpi, cloudProperties })),
    vmTypes: vmTypes.map(plain),
    vmExtensions: vmExtensions.map(plain),
    diskTypes: diskTypes.map(({ name, size, cloudProperties }) => ({ name, size, cloudProperties })),
    networks: networks.map(({ network }) => network),
    compilation: merged.compilation,
  };
  if (merged.compilation !== undefined) {
    checkCompilation(report, fieldsOf(report, merged.compilation, "compilation"), config);
  }
  return config;
}

const duplicate = (what: string) => ({ say: (name: string) => `Duplicate ${what} name '${name}'` });

interface Named {
  readonly name: string;
  readonly where: string;
  readonly cloudProperties: JsonObject;
}

const plain = ({ name, cloudProperties }: Named) => ({ name, cloudProperties });
const some =
  <T>(read: (fields: Fields) => T | undefined) =>
  (fields: Fields): T[] => {
    const found = read(fields);
    return found === undefined ? [] : [found];
  };

function readNamed(fields: Fields): Named | undefined {
  const name = fields.needText("name", "Give it a name.");
  if (name !== undefined) checkWord(fields, name);
  const cloudProperties = fields.object("cloud_properties") ?? {};
  return name === undefined ? undefined : { name, where: fields.at("name"), cloudProperties };
}

function readDiskType(fields: Fields): (Named & { readonly size: number }) | undefined {
  const named = readNamed(fields);
  const size = own(fields.map, "disk_size");
  if (!fields.has("disk_size")) {
    fields.wrong(MISSING, "disk_size", required("disk_size"), "Give the size in MB.");
  } else if (!Number.isSafeInteger(size)) {
    fields.wrong(
      WRONG_TYPE,
      "disk_size",
      `Property 'disk_size' value (${kindOf(size)}) did not match the required type 'Integer'`,
      "Give the size in MB.",
    );
  } else if (Number(size) < 0) {
    fields.wrong(INVALID_DISK_SIZE, "disk_size", `${Number(size)} is no size`, "Give the size in MB.");
  } else if (named !== undefined) {
    return { ...named, size: Number(size) };
  }
  return undefined;
}
