import type { LocalMethods } from "./_method.ts";

/** Sandboxes have no limits of their own, so any size is this one; what was asked for can be read in the VM type. */
export const calculateVmCloudProperties: LocalMethods["calculateVmCloudProperties"] = ({ desired }) => ({
  cpu: desired.cpu,
  ram: desired.ram,
  ephemeral_disk_size: desired.ephemeral_disk_size,
});
