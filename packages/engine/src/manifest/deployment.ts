import { isObject } from "@slipway/protocol/schema/json";
import { type Fields, fieldsOf, MISSING, mapsOf, required, unique } from "../documents/fields.ts";
import type { PlanProblem } from "../documents/problems.ts";
import { newReport, type Report, shown } from "../documents/problems.ts";
import { kindOf, type Tree } from "../documents/tree.ts";
import { readAddons } from "./addons.ts";
import { canonical, canonicalProblem, checkIdentifier } from "./canonical.ts";
import { readExportedFrom } from "./exported-from.ts";
import { readGroup } from "./instance-group.ts";
import type { InstanceGroup, Manifest, ManifestStemcell, UpdatePolicy } from "./model.ts";
import { withTmpfs } from "./tmpfs.ts";
import { FALLBACK, readDeploymentUpdate } from "./update-policy.ts";

export type ParsedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  /** `partly`: what could be read nevertheless, to look for more mistakes in. */
  | { readonly ok: false; readonly problems: readonly PlanProblem[]; readonly partly?: Manifest };

export interface ManifestDefaults {
  /** The Director's `default_update_vm_strategy`. */
  readonly vmStrategy?: UpdatePolicy["vmStrategy"];
}

const BAD_MANIFEST = 440001;
const INVALID_PROPERTY = 190014;
const DUPLICATE_GROUP = 190006;
const DUPLICATE_RELEASE = 190002;
const RELEASE_AND_RELEASES = 190001;
const DUPLICATE_ALIAS = 50005;
const NAME_AND_OS = 50006;
const INVALID_CANONICAL = 420001;
const BAD_FEATURES = 560001;
const INCOMPATIBLE_FEATURES = 210001;

const CLOUD_CONFIG_KEYS = ["vm_types", "vm_extensions", "azs", "disk_types", "compilation"];
/** Sections of manifests v1, with upstream's numbers and words. */
const OLD_KEYS: Readonly<Record<string, readonly [code: number, words: string, fix: string]>> = {
  networks: [
    140026,
    "Deployment 'networks' are no longer supported. Network definitions must now be provided in a cloud-config",
    "Define networks in the cloud config.",
  ],
  disk_pools: [
    140027,
    "disk_pools is no longer supported. Disk definitions must now be provided as disk_types in a cloud-config",
    "Use disk_types in the cloud config and persistent_disk_type in the group.",
  ],
  jobs: [140023, "Jobs are no longer supported, please use instance groups instead", "Use instance_groups."],
  resource_pools: [
    140028,
    "resource_pools is no longer supported. You must now define resources in a cloud-config",
    "Use vm_types in the cloud config and vm_type in the group.",
  ],
};

/** Checks a deployment manifest v2. All mistakes are reported at once, in the order of the document's sections. */
export function parseManifest(value: unknown, defaults: ManifestDefaults = {}): ParsedManifest {
  const report = newReport();
  const manifest = isObject(value) ? readManifest(report, value, defaults) : undefined;
  if (!isObject(value)) {
    report.add(
      BAD_MANIFEST,
      "",
      value === null || value === undefined
        ? "the manifest is empty"
        : `the manifest must be a map, found ${kindOf(value)}`,
      "Send a deployment manifest: name, releases, stemcells, update, instance_groups.",
    );
  }
  if (manifest === undefined) return { ok: false, problems: report.problems };
  if (report.problems.length > 0) return { ok: false, problems: report.problems, partly: manifest };
  return { ok: true, manifest };
}

function readManifest(report: Report, value: Tree, defaults: ManifestDefaults): Manifest {
  const top = fieldsOf(report, value, "");
  const name = readName(report, top);
  refuseOtherKeys(top);
  const features = readFeatures(report, top);
  const releases = readReleases(report, top);
  const stemcells = readStemcells(report, top);
  const update = readUpdateSection(report, top, defaults);
  const groups = readGroups(report, top, update, releases);
  const addons = readAddons(
    report,
    top.list("addons"),
    "addons",
    "deployment",
    new Set(releases.map((release) => release.name)),
  );
  top.list("variables");
  const tags = top.object("tags") ?? {};
  return {
    // Without one there is a problem, and no whole manifest.
    name: name ?? "",
    stemcells,
    releases: releases.map(({ where: _, ...release }) => release),
    update,
    groups: groups.map((group) => withTmpfs(group, features.useTmpfsConfig)),
    tags,
    properties: top.object("properties") ?? {},
    features,
    addons,
  };
}

function readName(report: Report, top: Fields): string | undefined {
  const name = top.needText("name", "Give the deployment's name: name: shop.");
  if (name === undefined) return undefined;
  checkIdentifier(report, name, "name");
  const why = canonicalProblem(name);
  if (why !== undefined) {
    report.add(
      INVALID_CANONICAL,
      "name",
      `'${shown(name)}' cannot be used in DNS: ${why}`,
      "Choose another name.",
    );
  }
  return name;
}

function refuseOtherKeys(top: Fields): void {
  for (const key of CLOUD_CONFIG_KEYS) {
    if (top.has(key)) {
      top.wrong(
        INVALID_PROPERTY,
        key,
        `Deployment manifest contains '${key}' section, but this can only be set in a cloud-config`,
        "Move it there (bosh update-cloud-config).",
      );
    }
  }
  for (const [key, [code, words, fix]] of Object.entries(OLD_KEYS)) {
    if (top.has(key)) top.wrong(code, key, words, fix);
  }
}

function readFeatures(report: Report, top: Fields): Manifest["features"] {
  const map = top.object("features");
  if (map === undefined) return { randomizeAzPlacement: false };
  const features = fieldsOf(report, map, "features");
  const flag = (key: string) =>
    features.flag(
      key,
      BAD_FEATURES,
      (found) => `Key '${key}' in 'features' expected to be a boolean, but received '${found}'`,
    );
  flag("converge_variables");
  const byLink = flag("use_link_dns_names");
  /** Names of links are short names, and names are of no use where addresses are wanted. */
  const withLinks = (key: string) => {
    const given = flag(key);
    if (byLink && given === false)
      features.wrong(
        INCOMPATIBLE_FEATURES,
        key,
        `cannot enable \`use_link_dns_names\` when \`${key}\` is explicitly disabled`,
        "Remove one of the two.",
      );
    return given ?? byLink;
  };
  return {
    randomizeAzPlacement: flag("randomize_az_placement") ?? false,
    useDnsAddresses: withLinks("use_dns_addresses"),
    useShortDnsAddresses: withLinks("use_short_dns_addresses"),
    useLinkDnsNames: byLink,
    useTmpfsConfig: flag("use_tmpfs_config"),
  };
}

const BOTH_RELEASES =
  "Deployment manifest contains both 'release' and 'releases' sections, please use one of the two";

function readReleases(report: Report, top: Fields) {
  if (top.has("release") && top.has("releases")) {
    top.wrong(RELEASE_AND_RELEASES, "release", BOTH_RELEASES, "Keep releases only.");
  }
  const single = top.has("release") && !top.has("releases") ? top.object("release") : undefined;
  const items = top.has("release")
    ? single && [single]
    : top.needList("releases", "List the releases used; without jobs, write releases: [].");
  const releases = mapsOf(report, items, "releases").flatMap((fields) => {
    const name = fields.needText("name", "Give the release's name.");
    const version = fields.needText("version", "Give a version, or latest.");
    if (name === undefined || version === undefined) return [];
    checkIdentifier(report, name, fields.at("name"));
    const exportedFrom = readExportedFrom(report, fields);
    return [{ name, version, ...(exportedFrom.length > 0 && { exportedFrom }), where: fields.where }];
  });
  unique(report, DUPLICATE_RELEASE, releases, { say: (name) => `Duplicate release name '${name}'` });
  return releases;
}

function readStemcells(report: Report, top: Fields): readonly ManifestStemcell[] {
  const fix = "Name at least one: stemcells: [{alias: default, os: ubuntu-noble, version: latest}].";
  const items = top.needList("stemcells", fix);
  if (items?.length === 0) top.wrong(MISSING, "stemcells", "the list is empty", fix);
  const stemcells = mapsOf(report, items, "stemcells", "alias").flatMap((fields) => {
    const alias = fields.needText("alias", "Give an alias that groups refer to.");
    const version = fields.needText("version", "Give a version, or latest.");
    const os = fields.text("os");
    const name = fields.text("name");
    if (fields.has("os") && fields.has("name")) {
      fields.wrong(NAME_AND_OS, "name", "both os and name are given", "Keep one of them.");
    }
    if (!fields.has("os") && !fields.has("name")) {
      fields.wrong(
        MISSING,
        "os",
        "Required property 'os' or 'name' was not specified in object",
        "Give one of them.",
      );
    }
    if (alias === undefined || version === undefined) return [];
    return [{ alias, os, name, version, where: fields.where }];
  });
  unique(
    report,
    DUPLICATE_ALIAS,
    stemcells.map(({ alias, where }) => ({ name: alias, where })),
    { say: (alias) => `Duplicate stemcell alias '${alias}'` },
  );
  return stemcells.map(({ alias, os, name, version }) => ({ alias, os, name, version }));
}

function readUpdateSection(report: Report, top: Fields, defaults: ManifestDefaults): UpdatePolicy {
  const fix = "Give canaries, max_in_flight, canary_watch_time and update_watch_time.";
  if (!top.has("update")) top.wrong(MISSING, "update", required("update"), fix);
  const map = top.object("update");
  if (map === undefined) return FALLBACK;
  return readDeploymentUpdate(fieldsOf(report, map, "update"), defaults.vmStrategy ?? "delete-create");
}

function readGroups(
  report: Report,
  top: Fields,
  update: UpdatePolicy,
  releases: readonly { readonly name: string }[],
): readonly InstanceGroup[] {
  const known = new Set(releases.map((release) => release.name));
  const groups = mapsOf(report, top.list("instance_groups"), "instance_groups").flatMap((fields) => {
    const group = readGroup(report, fields, update, known);
    return group === undefined ? [] : [{ group, where: fields.at("name") }];
  });
  unique(
    report,
    DUPLICATE_GROUP,
    groups.map(({ group, where }) => ({ name: group.name, where })),
    {
      form: canonical,
      say: (name) => `Invalid instance group name '${name}', canonical name already taken`,
    },
  );
  return groups.map(({ group }) => group);
}
