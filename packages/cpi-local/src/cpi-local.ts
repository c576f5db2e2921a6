import { join } from "node:path";
import { type Cpi, defineCpi } from "@slipway/cpi-sdk/cpi";
import { localConfig } from "./config.ts";
import { attachDisk } from "./methods/attach_disk.ts";
import { calculateVmCloudProperties } from "./methods/calculate_vm_cloud_properties.ts";
import { createDisk } from "./methods/create_disk.ts";
import { createNetwork } from "./methods/create_network.ts";
import { createStemcell } from "./methods/create_stemcell.ts";
import { createVm } from "./methods/create_vm.ts";
import { deleteDisk } from "./methods/delete_disk.ts";
import { deleteNetwork } from "./methods/delete_network.ts";
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

/**
 * VMs as sandboxes of this host: processes in mount, pid and user namespaces of their own, which outlive the CPI that made
 * them. Nothing to install and no root; with root, disks that can be full and networks of their own. The table of its
 * methods.
 */
export const cpiLocal: Cpi = defineCpi({
  name: "local",
  stemcellFormats: ["slipway-local", "general-tar", "general-light", "warden-tar"],
  config: localConfig,
  stateDir: ({ dir }) => join(dir, "sdk"),
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
    createNetwork,
    deleteNetwork,
  },
});
