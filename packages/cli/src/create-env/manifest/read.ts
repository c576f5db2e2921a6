import {
  type Fields,
  fieldsOf,
  MISSING,
  mapsOf,
  WRONG_TYPE,
  WRONG_VALUE,
} from "@slipway/engine/documents/fields";
import { newReport, type Report, shown } from "@slipway/engine/documents/problems";
import { kindOf } from "@slipway/engine/documents/tree";
import { readUpdate } from "@slipway/engine/manifest/update-policy";
import { isObject } from "@slipway/protocol/schema/json";
import { mbusIn } from "../agents/bus.ts";
import { ManifestWrong } from "../errors.ts";
import { readArchiveUrl } from "./archive-url.ts";
import { checkCa, readCloudProvider } from "./cloud-provider.ts";
import { merged, readJobs, readReleases } from "./jobs.ts";
import type { CloudProvider, EnvManifest } from "./model.ts";
import { groupNetworks, readNetworks } from "./networks.ts";
import { onlyKeys } from "./strict.ts";

const KEYS = [
  "name",
  "cloud_provider",
  "resource_pools",
  "disk_pools",
  "networks",
  "instance_groups",
  "jobs",
  "releases",
  "update",
  "tags",
  "properties",
  "variables",
];
/** Upstream's default for a manifest without `update_watch_time`. */
export const DEFAULT_WATCH: readonly [number, number] = [0, 300_000];

interface Document {
  readonly path: string;
  readonly dir: string;
  readonly value: unknown;
}

/** A manifest of create-env, interpolated. Every problem is reported with its place. */
export function readEnvManifest(document: Document): EnvManifest {
  return reading(document, (fields, report) => {
    onlyKeys(fields, KEYS);
    const name = fields.needText("name", "Give the deployment a name.");
    const releases = readReleases(fields, report, document.dir);
    const watchMs = watchOf(fields, report);
    const networks = readNetworks(report, fields.needList("networks", "Describe the network of the VM."));
    const group = theGroup(fields, report);
    const pool = group && named(fields, report, "resource_pools", group, "resource_pool");
    const cloudProvider = providerOf(fields, report, document.dir);
    if (name === undefined || group === undefined || pool === undefined || cloudProvider === undefined)
      return undefined;
    onlyKeys(pool, ["name", "network", "size", "stemcell", "cloud_properties", "env"]);
    const stemcell = stemcellOf(pool, report, document.dir);
    const env = pool.object("env") ?? {};
    checkCa(pool, "env.bosh.mbus.cert", mbusIn(env).cert);
    const persistentDisk = diskOf(fields, report, group);
    const sent = groupNetworks(report, group, networks);
    const jobs = readJobs(group, report, releases);
    const properties = merged(fields.object("properties") ?? {}, group.object("properties") ?? {});
    if (stemcell === undefined) return undefined;
    return {
      name,
      group: group.text("name") ?? "",
      stemcell,
      releases,
      jobs,
      properties,
      cloudProperties: pool.object("cloud_properties") ?? {},
      env,
      tags: fields.object("tags") ?? {},
      networks: sent,
      persistentDisk,
      watchMs,
      cloudProvider,
    };
  });
}

/** The parts of a manifest that delete-env needs. */
export type EnvProvider = Pick<EnvManifest, "name" | "cloudProvider" | "env" | "releases">;

export function readEnvProvider(document: Document): EnvProvider {
  return reading(document, (fields, report) => {
    const name = fields.needText("name", "Give the deployment a name.");
    const cloudProvider = providerOf(fields, report, document.dir);
    const [pool] = mapsOf(newReport(), fields.list("resource_pools"), "resource_pools");
    const releases = readReleases(fields, report, document.dir);
    if (name === undefined || cloudProvider === undefined) return undefined;
    const { cpi } = cloudProvider;
    const needed = cpi.kind === "release" ? cpi.jobs.map(({ release }) => release) : [];
    return {
      name,
      cloudProvider,
      env: pool?.object("env") ?? {},
      releases: releases.filter((one) => needed.includes(one.name)),
    };
  });
}

function reading<T>(document: Document, read: (fields: Fields, report: Report) => T | undefined): T {
  const report = newReport();
  const { value, path } = document;
  const result = isObject(value) ? read(fieldsOf(report, value, ""), report) : undefined;
  if (!isObject(value))
    report.add(WRONG_TYPE, "", `expected a map, found ${kindOf(value)}`, "Write a manifest");
  if (result !== undefined && report.problems.length === 0) return result;
  const problems = report.problems.map(
    ({ where, problem, fix }) => `${where === "" ? "" : `${where}: `}${problem}. ${fix}`,
  );
  throw ManifestWrong({ path, problems });
}

function providerOf(fields: Fields, report: Report, dir: string): CloudProvider | undefined {
  if (!fields.has("cloud_provider"))
    fields.wrong(MISSING, "cloud_provider", "it is required and missing", "Say which CPI makes the VM.");
  const section = fields.object("cloud_provider");
  return section && readCloudProvider(fieldsOf(report, section, "cloud_provider"), dir);
}

function watchOf(fields: Fields, report: Report): readonly [number, number] {
  const section = fields.object("update");
  if (section === undefined) return DEFAULT_WATCH;
  return readUpdate(fieldsOf(report, section, "update")).updateWatchMs ?? DEFAULT_WATCH;
}

const GROUP_KEYS = [
  "name",
  "instances",
  "lifecycle",
  "jobs",
  "templates",
  "resource_pool",
  "persistent_disk",
  "persistent_disk_pool",
  "networks",
  "properties",
];

function theGroup(fields: Fields, report: Report): Fields | undefined {
  const key = fields.has("instance_groups") || !fields.has("jobs") ? "instance_groups" : "jobs";
  const items = fields.needList(key, "Describe the one instance group of the environment.");
  const groups = mapsOf(report, items, key);
  if (items !== undefined && items.length !== 1)
    fields.wrong(WRONG_VALUE, key, `there are ${items.length}`, "An environment has exactly one.");
  const [group] = groups;
  if (group === undefined) return undefined;
  onlyKeys(group, GROUP_KEYS);
  group.needText("name", "Give the instance group a name.");
  if (group.has("instances") && group.whole("instances") !== 1)
    group.wrong(WRONG_VALUE, "instances", "an environment has one VM", "Write instances: 1.");
  group.oneOf("lifecycle", ["service"]);
  return group;
}

/** An entry of one of the manifest's lists, by the name the group says. */
function named(fields: Fields, report: Report, list: string, group: Fields, key: string): Fields | undefined {
  const name = group.needText(key, `Name one of the manifest's ${list}.`);
  const found = mapsOf(report, fields.needList(list, "The instance group needs one."), list).find(
    (one) => one.text("name") === name,
  );
  if (name !== undefined && found === undefined)
    group.wrong(WRONG_VALUE, key, `there is no '${shown(name)}' in ${list}`, "Add it, or correct the name.");
  return found;
}

function stemcellOf(pool: Fields, report: Report, dir: string): EnvManifest["stemcell"] | undefined {
  if (!pool.has("stemcell"))
    pool.wrong(MISSING, "stemcell", "it is required and missing", "Write stemcell: {url: ..., sha1: ...}.");
  const section = pool.object("stemcell");
  if (section === undefined) return undefined;
  const fields = fieldsOf(report, section, pool.at("stemcell"));
  onlyKeys(fields, ["url", "sha1"]);
  return readArchiveUrl(fields, "stemcell", dir);
}

function diskOf(fields: Fields, report: Report, group: Fields): EnvManifest["persistentDisk"] {
  if (group.has("persistent_disk") && group.has("persistent_disk_pool"))
    group.wrong(WRONG_VALUE, "persistent_disk", "there is a persistent_disk_pool too", "Keep one of them.");
  if (!group.has("persistent_disk_pool")) {
    const size = group.whole("persistent_disk", { min: 0 }) ?? 0;
    return size > 0 ? { size, cloudProperties: {} } : null;
  }
  const pool = named(fields, report, "disk_pools", group, "persistent_disk_pool");
  if (pool === undefined) return null;
  onlyKeys(pool, ["name", "disk_size", "cloud_properties"]);
  const size = pool.needWhole("disk_size", "Give its size in MB.", { min: 0 }) ?? 0;
  return size > 0 ? { size, cloudProperties: pool.object("cloud_properties") ?? {} } : null;
}
