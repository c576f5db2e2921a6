import { type Cpi, defineCpi } from "@slipway/cpi-sdk/cpi";
import { awsConfig } from "./config.ts";
import { attachDisk } from "./methods/attach_disk.ts";
import { calculateVmCloudProperties } from "./methods/calculate_vm_cloud_properties.ts";
import { createDisk } from "./methods/create_disk.ts";
import { createStemcell } from "./methods/create_stemcell.ts";
import { createVm } from "./methods/create_vm.ts";
import { deleteDisk } from "./methods/delete_disk.ts";
import { deleteSnapshot } from "./methods/delete_snapshot.ts";
import { deleteStemcell } from "./methods/delete_stemcell.ts";
import { deleteVm } from "./methods/delete_vm.ts";
import { detachDisk } from "./methods/detach_disk.ts";
import { getDisks } from "./methods/get_disks.ts";
import { getVmLog } from "./methods/get_vm_log.ts";
import { hasDisk } from "./methods/has_disk.ts";
import { hasVm } from "./methods/has_vm.ts";
import { listResources } from "./methods/list_resources.ts";
import { rebootVm } from "./methods/reboot_vm.ts";
import { resizeDisk } from "./methods/resize_disk.ts";
import { setDiskMetadata } from "./methods/set_disk_metadata.ts";
import { setVmMetadata } from "./methods/set_vm_metadata.ts";
import { snapshotDisk } from "./methods/snapshot_disk.ts";
import { updateDisk } from "./methods/update_disk.ts";

const MINUTES = 60_000;

/**
 * VMs as instances of Amazon EC2. It keeps nothing on its own machine: requests are found again by client tokens and by a
 * tag that each resource has from its first moment. The table of methods.
 */
export const cpiAws: Cpi = defineCpi({
  name: "aws",
  stemcellFormats: ["aws-light"],
  config: awsConfig,
  // The SDK would remember results in a directory. The tags of EC2 are better: every machine sees them.
  capabilities: { repeats_by_request_id: true },
  // A VM that is taken back has to end before its interfaces can be deleted.
  graceMs: 5 * MINUTES,
  methods: {
    createStemcell,
    deleteStemcell,
    createVm,
    deleteVm,
    hasVm,
    getVmLog,
    listResources,
    rebootVm,
    setVmMetadata,
    calculateVmCloudProperties,
    createDisk,
    deleteDisk,
    hasDisk,
    attachDisk,
    detachDisk,
    getDisks,
    setDiskMetadata,
    resizeDisk,
    updateDisk,
    snapshotDisk,
    deleteSnapshot,
  },
});
