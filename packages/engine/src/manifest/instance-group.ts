import type { JsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { type Fields, fieldsOf, mapsOf, unique } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";
import { groupName } from "../model/names.ts";
import { canonicalProblem } from "./canonical.ts";
import { MOST_INSTANCES, readGroupNetworks } from "./group-networks.ts";
import type { InstanceGroup, UpdatePolicy } from "./model.ts";
import { overlay, readUpdate } from "./update-policy.ts";

const INVALID_CANONICAL = 420001;
const UNKNOWN_RELEASE = 140002;
const INVALID_JOBS = 140010;
const INVALID_LIFECYCLE = 140011;
const INVALID_DISK = 140013;
const INVALID_AZS = 140016;
const INVALID_RESOURCES = 190019;
const OLD_KEY = 190014;

const OLD_KEYS: Readonly<Record<string, string>> = {
  template: "Use jobs.",
  templates: "Use jobs.",
  resource_pool: "Use vm_type and stemcell.",
  persistent_disk_pool: "Use persistent_disk_type.",
};

/** One entry of `instance_groups`. Undefined only without a name; every mistake is reported. */
export function readGroup(
  report: Report,
  fields: Fields,
  update: UpdatePolicy,
  releases: ReadonlySet<string>,
): InstanceGroup | undefined {
  const name = readName(report, fields);
  for (const [key, fix] of Object.entries(OLD_KEYS)) {
    if (fields.has(key)) fields.wrong(OLD_KEY, key, "this key of manifests v1 is no longer used", fix);
  }
  const instances = fields.needWhole("instances", "Give the number of instances, 0 or more.", {
    min: 0,
    max: MOST_INSTANCES,
  });
  const azs = readAzs(fields);
  const jobs = readJobs(report, fields, releases);
  const vm = readVm(report, fields);
  const stemcell = fields.needText("stemcell", "Give the alias of an entry of stemcells.");
  const persistentDisk = readDisk(fields);
  const networks = readGroupNetworks(report, fields);
  const ownUpdate = fields.object("update");
  const migratedFrom = readMigratedFrom(report, fields);
  const lifecycle = fields.oneOf("lifecycle", ["service", "errand"], INVALID_LIFECYCLE) ?? "service";
  fields.object("properties");
  const group = {
    instances: instances ?? 0,
    azs,
    lifecycle,
    ...vm,
    stemcell: stemcell ?? "",
    persistentDisk,
    networks,
    update:
      ownUpdate === undefined
        ? update
        : overlay(update, readUpdate(fieldsOf(report, ownUpdate, fields.at("update")))),
    migratedFrom,
    env: fields.object("env") ?? {},
    tags: fields.object("tags") ?? {},
    jobs,
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
  const branded = v.safeParse(groupName, name);
  return branded.success ? branded.output : undefined;
}

function readAzs(fields: Fields): readonly string[] | undefined {
  const azs = fields.texts("azs");
  if (azs === undefined) return undefined;
  if (fields.list("azs")?.length === 0) {
    fields.wrong(INVALID_AZS, "azs", "the list is empty", "Name availability zones, or remove the key.");
  }
  const twice = azs.find((az, i) => azs.indexOf(az) !== i);
  if (twice !== undefined) {
    fields.wrong(INVALID_AZS, "azs", `'${shown(twice)}' is listed twice`, "Name each zone once.");
  }
  return azs;
}

function readJobs(report: Report, fields: Fields, releases: ReadonlySet<string>): InstanceGroup["jobs"] {
  const items = fields.needList("jobs", "List the jobs; without any, write jobs: [].");
  const jobs = mapsOf(report, items, fields.at("jobs")).flatMap((job) => {
    const name = job.needText("name", "Give the job's name.");
    const release = job.needText("release", "Name the release the job comes from.");
    for (const key of ["properties", "consumes", "provides"]) job.object(key);
    job.list("custom_provider_definitions");
    if (release !== undefined && !releases.has(release)) {
      job.wrong(
        UNKNOWN_RELEASE,
        "release",
        `the release '${shown(release)}' is not in releases`,
        "Add it to the manifest's releases, or correct the name.",
      );
    }
    return name === undefined || release === undefined ? [] : [{ name, release, where: job.where }];
  });
  unique(report, INVALID_JOBS, jobs);
  return jobs.map(({ name, release }) => ({ name, release }));
}

function readVm(
  report: Report,
  fields: Fields,
): Pick<InstanceGroup, "vmType" | "vmResources" | "vmExtensions"> {
  const given = ["vm_type", "vm_resources"].filter((key) => fields.has(key));
  if (given.length !== 1) {
    const problem =
      given.length === 0
        ? "neither vm_type nor vm_resources is given"
        : "both vm_type and vm_resources are given";
    fields.wrong(INVALID_RESOURCES, "vm_type", problem, "Give exactly one of them.");
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

function readDisk(fields: Fields): InstanceGroup["persistentDisk"] {
  if (fields.has("persistent_disks")) {
    fields.wrong(
      INVALID_DISK,
      "persistent_disks",
      "several named disks are not supported yet",
      "Use persistent_disk_type or persistent_disk.",
    );
    return undefined;
  }
  if (fields.has("persistent_disk") && fields.has("persistent_disk_type")) {
    fields.wrong(
      INVALID_DISK,
      "persistent_disk",
      "both persistent_disk and persistent_disk_type are given",
      "Keep one of them.",
    );
  }
  const type = fields.text("persistent_disk_type");
  const size = fields.whole("persistent_disk");
  if (size !== undefined && size < 0) {
    fields.wrong(INVALID_DISK, "persistent_disk", `${size} is no size`, "Give megabytes; 0 is no disk.");
    return undefined;
  }
  if (type !== undefined) return { type };
  return size === undefined || size === 0 ? undefined : { size };
}

function readMigratedFrom(report: Report, fields: Fields): InstanceGroup["migratedFrom"] {
  return mapsOf(report, fields.list("migrated_from"), fields.at("migrated_from"), null).flatMap((entry) => {
    const name = entry.needText("name", "Give the group's old name.");
    return name === undefined ? [] : [{ name, az: entry.text("az") }];
  });
}
