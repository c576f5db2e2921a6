import type { CallRecorder } from "../call-log/call-log.ts";
import type { CallOptions, Cloud, Clouds } from "../clouds/cloud.ts";

/** The same clouds; every call to their CPIs is recorded. */
export const recordingClouds = (clouds: Clouds, recorder: CallRecorder): Clouds => ({
  names: clouds.names,
  configured: clouds.configured,
  nameOf: (recorded) => clouds.nameOf(recorded),
  cloud: (name) => recordingCloud(clouds.cloud(name), recorder),
});

function recordingCloud(cloud: Cloud, recorder: CallRecorder): Cloud {
  const to = `cpi:${cloud.name}`;
  const record: CallOptions["record"] = (call) => recorder({ ...call, to });
  const recorded = (options: CallOptions): CallOptions => ({ ...options, record });
  return {
    name: cloud.name,
    info: (options) => cloud.info({ ...options, record }),
    channelFor: (stemcell) => cloud.channelFor(stemcell),
    createStemcell: (image, properties, tags, call) =>
      cloud.createStemcell(image, properties, tags, recorded(call)),
    deleteStemcell: (cid, call) => cloud.deleteStemcell(cid, recorded(call)),
    createVm: (args, call) => cloud.createVm(args, recorded(call)),
    deleteVm: (cid, call) => cloud.deleteVm(cid, recorded(call)),
    hasVm: (cid, call) => cloud.hasVm(cid, recorded(call)),
    vmLog: (cid, call) => cloud.vmLog(cid, recorded(call)),
    listResources: (call) => cloud.listResources(recorded(call)),
    rebootVm: (cid, call) => cloud.rebootVm(cid, recorded(call)),
    setVmMetadata: (cid, metadata, call) => cloud.setVmMetadata(cid, metadata, recorded(call)),
    calculateVmCloudProperties: (wanted, call) => cloud.calculateVmCloudProperties(wanted, recorded(call)),
    createDisk: (size, properties, vm, call) => cloud.createDisk(size, properties, vm, recorded(call)),
    deleteDisk: (cid, call) => cloud.deleteDisk(cid, recorded(call)),
    hasDisk: (cid, call) => cloud.hasDisk(cid, recorded(call)),
    attachDisk: (vm, disk, call) => cloud.attachDisk(vm, disk, recorded(call)),
    detachDisk: (vm, disk, call) => cloud.detachDisk(vm, disk, recorded(call)),
    setDiskMetadata: (cid, metadata, call) => cloud.setDiskMetadata(cid, metadata, recorded(call)),
    resizeDisk: (cid, size, call) => cloud.resizeDisk(cid, size, recorded(call)),
    updateDisk: (cid, size, properties, call) => cloud.updateDisk(cid, size, properties, recorded(call)),
    snapshotDisk: (cid, metadata, call) => cloud.snapshotDisk(cid, metadata, recorded(call)),
    deleteSnapshot: (cid, call) => cloud.deleteSnapshot(cid, recorded(call)),
    createNetwork: (definition, call) => cloud.createNetwork(definition, recorded(call)),
    deleteNetwork: (cid, call) => cloud.deleteNetwork(cid, recorded(call)),
  };
}
