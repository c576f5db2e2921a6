import type { Hear } from "../call-log/call-log.ts";
import type { CallOptions, Cloud, Clouds } from "../clouds/cloud.ts";

/** The same clouds; every call to their CPIs is heard. */
export const heardClouds = (clouds: Clouds, hear: Hear): Clouds => ({
  names: clouds.names,
  cloud: (name) => heardCloud(clouds.cloud(name), hear),
});

function heardCloud(cloud: Cloud, hear: Hear): Cloud {
  const to = `cpi:${cloud.name}`;
  const heard: CallOptions["heard"] = (said) => hear({ ...said, to });
  const told = (options: CallOptions): CallOptions => ({ ...options, heard });
  return {
    name: cloud.name,
    info: (options) => cloud.info({ ...options, heard }),
    channelFor: (stemcell) => cloud.channelFor(stemcell),
    createStemcell: (image, properties, tags, call) =>
      cloud.createStemcell(image, properties, tags, told(call)),
    deleteStemcell: (cid, call) => cloud.deleteStemcell(cid, told(call)),
    createVm: (args, call) => cloud.createVm(args, told(call)),
    deleteVm: (cid, call) => cloud.deleteVm(cid, told(call)),
    hasVm: (cid, call) => cloud.hasVm(cid, told(call)),
    rebootVm: (cid, call) => cloud.rebootVm(cid, told(call)),
    setVmMetadata: (cid, metadata, call) => cloud.setVmMetadata(cid, metadata, told(call)),
    calculateVmCloudProperties: (wanted, call) => cloud.calculateVmCloudProperties(wanted, told(call)),
    createDisk: (size, properties, vm, call) => cloud.createDisk(size, properties, vm, told(call)),
    deleteDisk: (cid, call) => cloud.deleteDisk(cid, told(call)),
    hasDisk: (cid, call) => cloud.hasDisk(cid, told(call)),
    attachDisk: (vm, disk, call) => cloud.attachDisk(vm, disk, told(call)),
    detachDisk: (vm, disk, call) => cloud.detachDisk(vm, disk, told(call)),
    setDiskMetadata: (cid, metadata, call) => cloud.setDiskMetadata(cid, metadata, told(call)),
    resizeDisk: (cid, size, call) => cloud.resizeDisk(cid, size, told(call)),
    updateDisk: (cid, size, properties, call) => cloud.updateDisk(cid, size, properties, told(call)),
    snapshotDisk: (cid, metadata, call) => cloud.snapshotDisk(cid, metadata, told(call)),
    deleteSnapshot: (cid, call) => cloud.deleteSnapshot(cid, told(call)),
  };
}
