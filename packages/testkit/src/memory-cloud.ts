import {
  type Cpi,
  type CpiDefinition,
  type CreateVmCall,
  defineCpi,
  type Methods,
} from "@slipway/cpi-sdk/cpi";
import { diskNotAttached, diskNotFound, vmNotFound } from "@slipway/cpi-sdk/errors";
import { jsonObject, open } from "@slipway/protocol/schema/json";
import { secret } from "@slipway/protocol/schema/marks";
import * as v from "valibot";

const config = open({
  /** A credential whose name does not say so. */
  pin: v.optional(secret(v.string())),
  region: v.optional(v.string(), "r-default"),
  state_dir: v.optional(v.string()),
  options: v.optional(jsonObject()),
});
export type MemoryCloudConfig = v.InferOutput<typeof config>;
export type CloudMethods = Methods<MemoryCloudConfig>;

interface Vm {
  readonly userData: string;
  readonly disks: Set<string>;
}

/** A cloud that is a few maps, and tells what was asked of it. */
export class MemoryCloud {
  readonly vms = new Map<string, Vm>();
  readonly disks = new Set<string>();
  /** Methods of the author that were called, in order. */
  readonly calls: string[] = [];
  readonly configs: MemoryCloudConfig[] = [];
  #made = 0;

  next(kind: string): string {
    this.#made += 1;
    return `${kind}-${this.#made}`;
  }

  /** The one VM there is. */
  get vm(): { readonly cid: string; readonly userData: string } {
    const [first, ...more] = [...this.vms].map(([cid, vm]) => ({ cid, userData: vm.userData }));
    if (first === undefined || more.length > 0) throw new Error(`there are ${this.vms.size} VMs`);
    return first;
  }

  vmOf(cid: string): Vm {
    const found = this.vms.get(cid);
    if (found === undefined) throw vmNotFound(cid);
    return found;
  }
}

export type VmArgs = Parameters<CloudMethods["createVm"]>[0];

/** Makes a VM of the memory cloud; tests wrap it. */
export function makeVm(
  cloud: MemoryCloud,
  { networks }: Pick<VmArgs, "networks">,
  call: Pick<CreateVmCall<MemoryCloudConfig>, "userData">,
): { cid: string } {
  const cid = cloud.next("vm");
  const userData = call.userData({
    networks,
    disks: { system: "/dev/sda", ephemeral: "/dev/sdb" },
    name: cid,
  });
  cloud.vms.set(cid, { userData, disks: new Set() });
  return { cid };
}

const methodsOf = (cloud: MemoryCloud): CloudMethods => ({
  createStemcell: () => cloud.next("stemcell"),
  deleteStemcell: () => undefined,
  createVm: (args, call) => makeVm(cloud, args, call),
  deleteVm: ({ vmCid }) => {
    cloud.vmOf(vmCid);
    cloud.vms.delete(vmCid);
  },
  hasVm: ({ vmCid }) => cloud.vms.has(vmCid),
  createDisk: () => {
    const cid = cloud.next("disk");
    cloud.disks.add(cid);
    return cid;
  },
  deleteDisk: ({ diskCid }) => {
    if (!cloud.disks.delete(diskCid)) throw diskNotFound(diskCid);
  },
  hasDisk: ({ diskCid }) => cloud.disks.has(diskCid),
  attachDisk: ({ vmCid, diskCid }) => {
    const vm = cloud.vmOf(vmCid);
    if (!cloud.disks.has(diskCid)) throw diskNotFound(diskCid);
    vm.disks.add(diskCid);
    return { path: `/dev/${diskCid}` };
  },
  detachDisk: ({ vmCid, diskCid }) => {
    if (!cloud.vmOf(vmCid).disks.delete(diskCid)) throw diskNotAttached(vmCid, diskCid);
  },
});

/** Changes of a test to the CPI; methods are added to the cloud's or replace them. */
export interface MemoryCloudOptions extends Partial<Omit<CpiDefinition<typeof config>, "methods">> {
  readonly methods?: Partial<CloudMethods>;
}

/** A CPI named `cloud` on a memory cloud. Every call of an author's method is noted there. */
export function cloudCpi(cloud: MemoryCloud, { methods, ...definition }: MemoryCloudOptions = {}): Cpi {
  const all = { ...methodsOf(cloud), ...methods };
  const noted = Object.fromEntries(
    Object.entries(all).map(([name, handler]) => [
      name,
      (args: never, call: { readonly config: MemoryCloudConfig }) => {
        cloud.calls.push(name);
        cloud.configs.push(call.config);
        return (handler as (args: never, call: unknown) => unknown)(args, call);
      },
    ]),
  ) as unknown as CloudMethods;
  return defineCpi({
    name: "cloud",
    stemcellFormats: ["memory-tar"],
    config,
    stateDir: ({ state_dir }) => state_dir as string,
    ...definition,
    methods: noted,
  });
}
