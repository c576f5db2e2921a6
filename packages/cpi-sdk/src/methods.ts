import type { RunningCall } from "./running-call.ts";

type Adapter = (running: RunningCall) => Promise<unknown>;

/**
 * The methods the SDK does something about beyond checking both ways. Loaded when called: a CPI process starts for
 * every call, and most calls need none of them.
 */
const ADAPTERS: Readonly<Record<string, () => Promise<Adapter>>> = {
  create_vm: async () => (await import("./methods/create_vm.ts")).createVm,
  delete_vm: async () => (await import("./methods/delete_vm.ts")).deleteVm,
  attach_disk: async () => (await import("./methods/attach_disk.ts")).attachDisk,
  detach_disk: async () => (await import("./methods/detach_disk.ts")).detachDisk,
  create_stemcell: async () => (await import("./methods/create_other.ts")).createCid,
  create_disk: async () => (await import("./methods/create_other.ts")).createCid,
  snapshot_disk: async () => (await import("./methods/create_other.ts")).createCid,
  create_network: async () => (await import("./methods/create_other.ts")).createNetwork,
};

export const methodTable = async (name: string): Promise<Adapter | undefined> => await ADAPTERS[name]?.();
