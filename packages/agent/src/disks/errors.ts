import { defineError } from "@slipway/kernel/errors";

export const DiskUnknown = defineError<{ cid: string }>({
  code: "AGA-001",
  kind: "outside",
  message: (p) => `Persistent disk with volume id '${p.cid}' could not be found`,
  next: "Attach the disk again: its hint was never given to this agent, or was removed.",
});

export const StoreFileUnusable = defineError<{ path: string; why: string }>({
  code: "AGA-011",
  kind: "outside",
  message: (p) => `the file ${p.path} of the persistent disk cannot be used: ${p.why}`,
  next: "Choose another path, or look at the disk in the VM under /var/vcap/store.",
});
