import { didYouMean, newReport, type PlanProblem, type Report, shown } from "../documents/problems.ts";
import { migrationProblems } from "./migrated-from.ts";
import type { CloudConfig, CloudNetwork, GroupNetwork, InstanceGroup, Manifest } from "./model.ts";
import { checkStaticIps, newIpClaims } from "./static-ips.ts";

const UNKNOWN_VM_TYPE = 140004;
const UNKNOWN_STEMCELL = 140005;
const UNKNOWN_DISK_TYPE = 140012;
const UNKNOWN_AZ = 140018;
const UNKNOWN_EXTENSION = 140004;
const UNKNOWN_NETWORK = 150001;
const AZ_NETWORK_MISMATCH = 150006;
const NO_STATIC_ON_DYNAMIC = 150008;
const VIP_DEFAULT = 130007;

/** Names and addresses of the manifest that the cloud config, or another part of the manifest, does not bear out. */
export function referenceProblems(manifest: Manifest, config: CloudConfig): readonly PlanProblem[] {
  const report = newReport();
  const names = namesOf(manifest, config);
  const claims = newIpClaims();
  for (const group of manifest.groups) {
    const where = `instance_groups[${shown(group.name)}]`;
    checkNames(report, group, where, names);
    for (const [i, network] of group.networks.entries()) {
      const at = `${where}.networks[${i}]`;
      const definition = names.networks.get(network.name);
      if (definition === undefined) {
        report.add(
          UNKNOWN_NETWORK,
          `${at}.name`,
          unknown(group, "network", network.name),
          correct("networks", network.name, names.networks.keys()),
        );
        continue;
      }
      checkNetwork(report, group, network, definition, at);
      checkStaticIps(report, { group, network, definition, where: at }, claims);
    }
  }
  migrationProblems(report, manifest, names.azs);
  return report.problems;
}

interface Names {
  readonly azs: ReadonlySet<string>;
  readonly vmTypes: ReadonlySet<string>;
  readonly extensions: ReadonlySet<string>;
  readonly diskTypes: ReadonlySet<string>;
  readonly stemcells: ReadonlySet<string>;
  readonly networks: ReadonlyMap<string, CloudNetwork>;
}

const namesOf = (manifest: Manifest, config: CloudConfig): Names => ({
  azs: new Set(config.azs.map((az) => az.name)),
  vmTypes: new Set(config.vmTypes.map((type) => type.name)),
  extensions: new Set(config.vmExtensions.map((extension) => extension.name)),
  diskTypes: new Set(config.diskTypes.map((type) => type.name)),
  stemcells: new Set(manifest.stemcells.map((stemcell) => stemcell.alias)),
  networks: new Map(config.networks.map((network) => [network.name, network])),
});

const unknown = (group: InstanceGroup, what: string, name: string) =>
  `Instance group '${shown(group.name)}' references an unknown ${what} '${shown(name)}'`;
const correct = (section: string, name: string, known: Iterable<string>) =>
  `${didYouMean(name, known)}Add it to ${section} of the cloud config, or correct the name.`;

function checkNames(report: Report, group: InstanceGroup, where: string, names: Names): void {
  for (const [i, az] of (group.azs ?? []).entries()) {
    if (!names.azs.has(az)) {
      const words = `Instance group '${shown(group.name)}' references unknown availability zone '${shown(az)}'`;
      report.add(UNKNOWN_AZ, `${where}.azs[${i}]`, words, correct("azs", az, names.azs));
    }
  }
  if (group.vmType !== undefined && !names.vmTypes.has(group.vmType)) {
    report.add(
      UNKNOWN_VM_TYPE,
      `${where}.vm_type`,
      unknown(group, "vm type", group.vmType),
      correct("vm_types", group.vmType, names.vmTypes),
    );
  }
  for (const [i, extension] of group.vmExtensions.entries()) {
    if (!names.extensions.has(extension)) {
      report.add(
        UNKNOWN_EXTENSION,
        `${where}.vm_extensions[${i}]`,
        `The vm_extension '${shown(extension)}' has not been configured in cloud-config`,
        correct("vm_extensions", extension, names.extensions),
      );
    }
  }
  if (!names.stemcells.has(group.stemcell)) {
    report.add(
      UNKNOWN_STEMCELL,
      `${where}.stemcell`,
      unknown(group, "stemcell", group.stemcell),
      `${didYouMean(group.stemcell, names.stemcells)}Add it to stemcells, or correct the alias.`,
    );
  }
  const disk = group.persistentDisk;
  if (disk !== undefined && "type" in disk && !names.diskTypes.has(disk.type)) {
    report.add(
      UNKNOWN_DISK_TYPE,
      `${where}.persistent_disk_type`,
      unknown(group, "disk type", disk.type),
      correct("disk_types", disk.type, names.diskTypes),
    );
  }
  for (const [at, { type }] of (group.persistentDisks ?? []).entries())
    if (!names.diskTypes.has(type))
      report.add(
        UNKNOWN_DISK_TYPE,
        `${where}.persistent_disks.${at}.type`,
        `Instance group '${shown(group.name)}' persistent_disks's section references an unknown disk type '${shown(type)}'`,
        correct("disk_types", type, names.diskTypes),
      );
}

function checkNetwork(
  report: Report,
  group: InstanceGroup,
  network: GroupNetwork,
  definition: CloudNetwork,
  where: string,
): void {
  if (definition.type === "vip") {
    if (network.default.length > 0) {
      report.add(
        VIP_DEFAULT,
        `${where}.default`,
        `Can't provide any defaults since this is a VIP network: '${shown(network.name)}'`,
        group.networks.length > 1
          ? "Put the defaults at another network of the group."
          : "Give the group a manual or dynamic network beside it.",
      );
    }
    return;
  }
  if (definition.type === "dynamic" && network.staticIps.length > 0) {
    report.add(
      NO_STATIC_ON_DYNAMIC,
      `${where}.static_ips`,
      `Instance group '${shown(group.name)}' using dynamic network '${shown(network.name)}' cannot specify static IP(s)`,
      "Remove static_ips, or use a manual network.",
    );
  }
  const served = new Set(definition.subnets.flatMap((subnet) => subnet.azs ?? []));
  const azs = group.azs ?? [];
  const missing = azs.filter((az) => !served.has(az));
  if (missing.length === 0 && (azs.length > 0 || served.size === 0)) return;
  const zones = served.size === 0 ? "no zones" : `the zones ${[...served].map(shown).join(", ")}`;
  report.add(
    AZ_NETWORK_MISMATCH,
    `${where}.name`,
    `Instance group '${shown(group.name)}' must specify availability zone that matches availability zones of ` +
      `network '${shown(network.name)}': the network has ${zones}, the group ${
        azs.length === 0 ? "names none" : `wants ${missing.map(shown).join(", ")}`
      }`,
    served.size === 0
      ? "Give the network's subnets azs in the cloud config, or remove azs from the group."
      : "Choose the group's azs among them, or give the network a subnet for the zone.",
  );
}
