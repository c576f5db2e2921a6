import type { JsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { type Fields, fieldsOf, mapsOf, unique } from "../documents/fields.ts";
import { didYouMean, type Report, shown } from "../documents/problems.ts";
import { groupName } from "../model/names.ts";
import { canonicalProblem, checkIdentifier } from "./canonical.ts";
import { MOST_INSTANCES, readGroupNetworks } from "./group-networks.ts";
import type { InstanceGroup, UpdatePolicy } from "./model.ts";
import { overlay, readUpdate } from "./update-policy.ts";

const INVALID_CANONICAL = 420001;
const UNKNOWN_RELEASE = 140002;
const INVALID_JOBS = 140010;
const INVALID_LIFECYCLE = 140011;
const INVALID_DISK = 140013;
const INVALID_AZS = 140016;
const EMPTY_AZS = 140017;
const BAD_VM = 140022;

const CUSTOM = "custom_provider_definitions";
type OldKey = readonly [code: number, words: (group: string) => string, fix: string];
const OLD_TEMPLATE: OldKey = [
  140024,
  (group) =>
    `Instance group '${group}' specifies template or templates. This is no longer supported, please use jobs instead`,
  "Use jobs.",
];
/** Keys of manifests v1, with upstream's numbers and words. */
const OLD_KEYS: Readonly<Record<string, OldKey>> = {
  template: OLD_TEMPLATE,
  templates: OLD_TEMPLATE,
  resource_pool: [
    140025,
    () => "Instance groups no longer support resource_pool, please use 'vm_type' or 'vm_resources' keys",
    "Use vm_type and stemcell.",
  ],
  persistent_disk_pool: [
    140027,
    () =>
      "persistent_disk_pool is no longer supported. Disk definitions must now be provided as disk_types in a cloud-config",
    "Use persistent_disk_type.",
  ],
};

/** One entry of `instance_groups`. Undefined only without a name; every mistake is reported. */
export function readGroup(
  report: Report,
  fields: Fields,
  update: UpdatePolicy,
  releases: ReadonlySet<string>,
): InstanceGroup | undefined {
  const name = readName(report, fields);
  const own = shown(name);
  for (const [key, [code, words, fix]] of Object.entries(OLD_KEYS)) {
    if (fields.has(key)) fields.wrong(code, key, words(own), fix);
  }
  const instances = fields.needWhole("instances", "Give the number of instances, 0 or more.", {
    min: 0,
    max: MOST_INSTANCES,
  });
  const azs = readAzs(fields, own);
  const jobs = readJobs(report, fields, own, releases);
  const vm = readVm(report, fields, own);
  const stemcell = fields.needText("stemcell", "Give the alias of an entry of stemcells.");
  const persistentDisk = readDisk(fields, own);
  const persistentDisks = readNamedDisks(report, fields, own);
  const networks = readGroupNetworks(report, fields);
  const ownUpdate = fields.object("update");
  const migratedFrom = readMigratedFrom(report, fields);
  const lifecycle =
    fields.oneOf(
      "lifecycle",
      ["service", "errand"],
      INVALID_LIFECYCLE,
      (given) => `Invalid lifecycle '${given}' for '${own}', valid lifecycle profiles are: service, errand`,
    ) ?? "service";
  const group = {
    instances: instances ?? 0,
    azs,
    lifecycle,
    ...vm,
    stemcell: stemcell ?? "",
    persistentDisk,
    ...(persistentDisks.length > 0 && { persistentDisks }),
    networks,
    update:
      ownUpdate === undefined
        ? update
        : overlay(update, readUpdate(fieldsOf(report, ownUpdate, fields.at("update")))),
    migratedFrom,
    env: fields.object("env") ?? {},
    tags: fields.object("tags") ?? {},
    jobs,
    properties: fields.object("properties") ?? {},
  };
  return name === undefined ? undefined : { name, ...group };
}

function readName(report: Report, fields: Fields): InstanceGroup["name"] | undefined {
  const name = fields.needText("name", "Give the group a name.");
  if (name === undefined) return undefined;
  const why = canonicalProblem(name);
  if (why !== undefined) {
    report.add(
      INVALID_CANONICAL,
      fields.at("name"),
      `'${shown(name)}' cannot be used in DNS: ${why}`,
      "Choose another name.",
    );
  }
  checkIdentifier(report, name, fields.at("name"));
  const branded = v.safeParse(groupName, name);
  return branded.success ? branded.output : undefined;
}

function readAzs(fields: Fields, group: string): readonly string[] | undefined {
  const azs = fields.texts("azs");
  if (azs === undefined) return undefined;
  if (fields.list("azs")?.length === 0) {
    fields.wrong(
      EMPTY_AZS,
      "azs",
      `Instance group '${group}' has empty availability zones`,
      "Name availability zones, or remove the key.",
    );
  }
  const twice = azs.find((az, i) => azs.indexOf(az) !== i);
  if (twice !== undefined) {
    fields.wrong(INVALID_AZS, "azs", `'${shown(twice)}' is listed twice`, "Name each zone once.");
  }
  return azs;
}

function readJobs(
  report: Report,
  fields: Fields,
  group: string,
  releases: ReadonlySet<string>,
): InstanceGroup["jobs"] {
  const items = fields.needList("jobs", "List the jobs; without any, write jobs: [].");
  const jobs = mapsOf(report, items, fields.at("jobs")).flatMap((job) => {
    const name = job.needText("name", "Give the job's name.");
    if (name !== undefined) checkIdentifier(report, name, job.at("name"));
    const release = job.needText("release", "Name the release the job comes from.");
    const given = {
      properties: job.object("properties"),
      consumes: job.object("consumes") ?? {},
      provides: job.object("provides") ?? {},
      customProviders: mapsOf(report, job.list(CUSTOM), job.at(CUSTOM)).map(({ map }) => map as JsonObject),
    };
    if (release !== undefined && !releases.has(release)) {
      job.wrong(
        UNKNOWN_RELEASE,
        "release",
        `Job '${shown(name)}' (instance group '${group}') references an unknown release '${shown(release)}'`,
        `${didYouMean(release, releases)}Add it to the manifest's releases, or correct the name.`,
      );
    }
    return name === undefined || release === undefined ? [] : [{ name, release, ...given, where: job.where }];
  });
  unique(report, INVALID_JOBS, jobs, {
    say: (job) => `Colocated job '${job}' is already added to the instance group '${group}'`,
  });
  return jobs.map(({ where: _, ...job }) => job);
}

function readVm(
  report: Report,
  fields: Fields,
  group: string,
): Pick<InstanceGroup, "vmType" | "vmResources" | "vmExtensions"> {
  const given = ["vm_type", "vm_resources"].filter((key) => fields.has(key));
  if (given.length !== 1) {
    const problem =
      given.length === 0
        ? `Instance group '${group}' is missing either 'vm_type' or 'vm_resources' section`
        : `Instance group '${group}' can only specify 'vm_type' or 'vm_resources' keys`;
    fields.wrong(BAD_VM, "vm_type", problem, "Give exactly one of them.");
  }
  return {
    vmType: fields.text("vm_type"),
    vmResources: readResources(report, fields),
    vmExtensions: fields.texts("vm_extensions") ?? [],
  };
}

function readResources(report: Report, fields: Fields): InstanceGroup["vmResources"] {
  const map: JsonObject | undefined = fields.object("vm_resources");
  if (map === undefined) return undefined;
  const resources = fieldsOf(report, map, fields.at("vm_resources"));
  const cpu = resources.needWhole("cpu", "Give the number of CPUs.", { min: 1 });
  const ram = resources.needWhole("ram", "Give the memory in MB.", { min: 1 });
  const size = resources.needWhole("ephemeral_disk_size", "Give the size in MB.", { min: 1 });
  if (cpu === undefined || ram === undefined || size === undefined) return undefined;
  return { cpu, ram, ephemeral_disk_size: size };
}

function readDisk(fields: Fields, group: string): InstanceGroup["persistentDisk"] {
  const given = ["persistent_disk", "persistent_disk_type", "persistent_disks"].filter((key) =>
    fields.has(key),
  );
  const [first = "", second] = given;
  if (second !== undefined)
    fields.wrong(
      INVALID_DISK,
      first,
      `Instance group '${group}' specifies more than one of the following keys: 'persistent_disk', ` +
        "'persistent_disk_type', and 'persistent_disks'. Choose one",
      `Here it is ${given.join(" and ")}.`,
    );
  const type = fields.text("persistent_disk_type");
  const size = fields.whole("persistent_disk");
  if (size !== undefined && size < 0) {
    const words = `Instance group '${group}' references an invalid persistent disk size '${size}'`;
    fields.wrong(INVALID_DISK, "persistent_disk", words, "Give megabytes; 0 is no disk.");
    return undefined;
  }
  if (type !== undefined) return { type };
  return size === undefined || size === 0 ? undefined : { size };
}

const LINK = /^[\w-][\w.-]{0,254}$/;

/** Their names are names of links on the VM. */
function readNamedDisks(
  report: Report,
  fields: Fields,
  group: string,
): NonNullable<InstanceGroup["persistentDisks"]> {
  const entries = mapsOf(report, fields.list("persistent_disks"), fields.at("persistent_disks"), null);
  const disks = entries.flatMap((entry) => {
    const name = entry.needText("name", "Give the disk a name: jobs find it under that name.");
    const type = entry.needText("type", "Name one of the cloud config's disk_types.");
    if (name !== undefined && !LINK.test(name))
      entry.wrong(
        INVALID_DISK,
        "name",
        `'${shown(name)}' has characters that the name of a disk must not have`,
        "Use letters, digits and - _ . only, and no . first.",
      );
    return name === undefined || type === undefined ? [] : [{ name, type, where: entry.where }];
  });
  unique(report, INVALID_DISK, disks, {
    say: () => `Instance group '${group}' persistent_disks's section contains duplicate names`,
  });
  return disks.map(({ name, type }) => ({ name, type }));
}

function readMigratedFrom(report: Report, fields: Fields): InstanceGroup["migratedFrom"] {
  return mapsOf(report, fields.list("migrated_from"), fields.at("migrated_from"), null).flatMap((entry) => {
    const name = entry.needText("name", "Give the group's old name.");
    return name === undefined ? [] : [{ name, az: entry.text("az") }];
  });
}
