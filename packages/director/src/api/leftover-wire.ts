import type { OrphanDisk } from "../store/disks.ts";
import type { OrphanedVm } from "../store/orphaned-vms.ts";
import type { UploadedStemcell } from "../store/stemcells.ts";
import { utc } from "./times.ts";

/** Documents of stemcells, orphaned disks and orphaned VMs, as lists and the preview of a clean-up have them. */

export const stemcellWire = (stemcell: UploadedStemcell) => ({
  id: stemcell.id,
  name: stemcell.name,
  operating_system: stemcell.operatingSystem,
  version: stemcell.version,
  cid: stemcell.cid,
  cpi: stemcell.cpi,
  api_version: stemcell.apiVersion,
  deployments: stemcell.deployments.map((name) => ({ name })),
});

export const orphanDiskWire = (disk: OrphanDisk) => ({
  disk_cid: disk.cid,
  size: disk.size,
  az: disk.az,
  deployment_name: disk.deployment,
  instance_name: disk.instance,
  cloud_properties: disk.cloudProperties,
  orphaned_at: utc(disk.orphanedAt),
  ...(disk.claim !== undefined && { deleting_since: utc(disk.claim.since) }),
});

export const orphanedVmWire = (vm: OrphanedVm) => ({
  az: vm.az,
  cid: vm.cid,
  deployment_name: vm.deployment,
  instance_name: vm.instance,
  ip_addresses: vm.ips,
  orphaned_at: utc(vm.orphanedAt),
});
