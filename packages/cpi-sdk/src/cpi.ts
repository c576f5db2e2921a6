import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import type { CpiContext } from "@slipway/protocol/cpi/context";
import type { ArgsOf, Camel, ReturnOf } from "@slipway/protocol/cpi/method";
import type { CpiMethodName, CpiMethods } from "@slipway/protocol/cpi/methods";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Schema } from "@slipway/protocol/schema/marks";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import type * as v from "valibot";
import type { Log } from "./log.ts";

/** For the configuration schema: what it marks never shows in a log or an error. */
export { secret } from "@slipway/protocol/schema/marks";

/** Context that every method gets beside its arguments. */
export interface Call<C> {
  /** The CPI's own section of the configuration, with the request's properties over it. */
  readonly config: C;
  readonly log: Log;
  /** Aborted at the deadline, or when the process gets a signal to stop. */
  readonly signal: AbortSignal;
  readonly request: {
    readonly directorUuid: string;
    readonly requestId: string | undefined;
    readonly apiVersion: ApiVersion;
    /** Version of the VM's stemcell; undefined if the caller does not say, which the contract reads as 1. */
    readonly stemcellApiVersion: number | undefined;
    /** Disks the Director has recorded for the VM, if it says so. */
    readonly disks: Disks | undefined;
    /** Context as in the request, including properties of a CPI config: these may be credentials. */
    readonly context: CpiContext;
  };
}

/** Context of the create methods, with the means to be repeated and to be undone. */
export interface CreateCall<C> extends Call<C> {
  /**
   * The same for every repeat of this request, and never the same for another. Label what you create with it: after a
   * crash between the cloud's answer and ours, the repeat finds the first one by it.
   */
  readonly token: string;
  /** True when an earlier run of this very request began and no outcome is known: look for the token first. */
  readonly repeated: boolean;
  /** Runs if the method fails later on, last registered first, before the error is returned. */
  cleanup(undo: () => Promise<void> | void): void;
}

export interface CreateVmCall<C> extends CreateCall<C> {
  /**
   * The text the VM's agent must find: complete settings, or the way to the registry, as the mix of versions needs.
   * Hand it to the cloud before the VM starts.
   */
  userData(vm: VmSettings): string;
}

export interface VmSettings {
  /** Networks as the agent shall configure them; usually the ones asked for. */
  readonly networks: Networks;
  /** `system` and `ephemeral` at most: persistent disks come later. */
  readonly disks?: Omit<Disks, "persistent">;
  /** `vm.name` in the settings. */
  readonly name?: string;
  /** For clouds whose agents look up the registry by server name. Must be the cid. */
  readonly serverName?: string;
}

export interface CreatedVm {
  readonly cid: string;
  /** Default: those given to `userData`. */
  readonly networks?: Networks;
}

export interface CreatedNetwork {
  readonly cid: string;
  readonly range?: string;
  readonly gateway?: string;
  readonly reserved?: readonly string[];
  readonly cloudProperties?: JsonObject;
}

/** Return values of authors that differ from the wire. The SDK converts them to the wire's shape. */
interface Returns {
  create_vm: CreatedVm;
  attach_disk: DiskHintWire;
  create_network: CreatedNetwork;
}

type CreateName = "create_stemcell" | "create_disk" | "snapshot_disk" | "create_network";
type CallFor<N extends CpiMethodName, C> = N extends "create_vm"
  ? CreateVmCall<C>
  : N extends CreateName
    ? CreateCall<C>
    : Call<C>;

type Handler<N extends CpiMethodName, C> = (
  args: ArgsOf<CpiMethods[N]>,
  call: CallFor<N, C>,
) => Awaitable<
  N extends keyof Returns
    ? Returns[N]
    : undefined extends ReturnOf<CpiMethods[N]>
      ? unknown
      : ReturnOf<CpiMethods[N]>
>;

type Awaitable<T> = T | Promise<T>;

type Answered = "info" | "ping";
type Required =
  | "create_stemcell"
  | "delete_stemcell"
  | "create_vm"
  | "delete_vm"
  | "has_vm"
  | "create_disk"
  | "delete_disk"
  | "attach_disk"
  | "detach_disk";

/** The record an author writes: the wire's names in camelCase. */
export type Methods<C> = { readonly [N in Required as Camel<N>]: Handler<N, C> } & {
  readonly [N in Exclude<CpiMethodName, Required | Answered> as Camel<N>]?: Handler<N, C>;
};

/** Settings of agents where the cloud keeps them, such as a file, a CD-ROM or a config drive. */
export interface SettingsStore<C> {
  /** Returns the settings as they were written last; undefined if there are no settings. */
  readonly read: (vmCid: string, call: Call<C>) => Awaitable<string | undefined>;
  /** Replaces them whole, so that the VM's agent reads the new ones from then on. */
  readonly write: (vmCid: string, settings: string, call: Call<C>) => Awaitable<void>;
}

export interface CpiDefinition<S extends Schema> {
  /** Name of the CPI, and of its section in the configuration. */
  readonly name: string;
  readonly stemcellFormats: readonly string[];
  /** Schema of that section. Mark credentials with `secret`. */
  readonly config: S;
  readonly methods: Methods<v.InferOutput<S>>;
  /** Highest version it speaks. The SDK speaks all there are, so lower it only with a reason. */
  readonly apiVersion?: ApiVersion;
  /** Draft dialects to announce and speak. */
  readonly capabilities?: Capabilities;
  /**
   * For clouds whose agents read their settings again, from where `createVm` has put its user-data. Old Directors and
   * stemcells then need no registry: the SDK changes these settings when a disk is attached or detached.
   */
  readonly settings?: SettingsStore<v.InferOutput<S>>;
  /** Directory where results of create methods are remembered by request. Without it, a repeat creates a second one. */
  readonly stateDir?: (config: v.InferOutput<S>) => string;
  /** Longest time per method, in ms. */
  readonly deadlinesMs?: Readonly<Partial<Record<CpiMethodName | "default", number>>>;
  /** Longest time for a method to stop once aborted, and then for its cleanup. */
  readonly graceMs?: number;
}

/** A CPI of any configuration, as the SDK runs it. */
export type Cpi = CpiDefinition<Schema>;

export function defineCpi<const S extends Schema>(definition: CpiDefinition<S>): Cpi {
  // The configuration is checked with the definition's own schema before a method sees it, which the types cannot say.
  return definition as unknown as Cpi;
}
