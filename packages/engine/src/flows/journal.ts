import type { AgentId, DiskCid, VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { InstanceUuid } from "../model/names.ts";
import type { AppliedSpec, DiskRecord, InstanceRecord, InstanceState, VmRecord } from "../model/records.ts";

/** One step that was begun. Open until its outcome is known. */
export interface IntentRecord {
  readonly id: number;
  readonly taskId: number;
  readonly deployment: string;
  readonly instance: InstanceUuid | null;
  readonly step: string;
  /** What was to be done, with the ids it uses: enough to settle it after a crash. */
  readonly intent: JsonObject;
}

/** Something that may exist in the cloud without a record of ours. Shown to the operator, never deleted by itself. */
export interface Stray {
  readonly kind: "vm" | "disk" | "stemcell";
  readonly cpi: string;
  readonly requestId: string;
  readonly about: string;
  readonly why: string;
}

/** Writes that happen together with the outcome of a step, or not at all. */
export interface Writes {
  addVm(instance: InstanceUuid, vm: Omit<VmRecord, "id">): void;
  activateVm(cid: VmCid): void;
  updateVm(
    cid: VmCid,
    change: Partial<{
      networks: Networks;
      disks: Disks;
      ready: boolean;
      agentUrl: string;
      certificateUntil: number;
    }>,
  ): void;
  /** The VM is gone from the cloud: its record and what was attached to it in our records. */
  removeVm(cid: VmCid): void;
  /** The VM is left to the clean-up, with its addresses. */
  orphanVm(cid: VmCid): void;
  addDisk(
    instance: InstanceUuid,
    disk: Pick<DiskRecord, "cid" | "size" | "cloudProperties" | "cpi" | "active">,
  ): void;
  updateDisk(
    cid: DiskCid,
    change: Partial<{
      cid: DiskCid;
      size: number;
      cloudProperties: JsonObject;
      attachedTo: VmCid | null;
      hint: DiskHintWire | null;
      mounted: boolean;
    }>,
  ): void;
  /** `cid` becomes the active disk of its instance, the one before it inactive. */
  switchDisk(cid: DiskCid): void;
  /** Out of the instance, into the orphan list. The only way a disk leaves an instance. */
  orphanDisk(cid: DiskCid): void;
  updateInstance(
    instance: InstanceUuid,
    change: Partial<{
      state: InstanceState;
      az: string | null;
      bootstrap: boolean;
      updateCompleted: boolean;
      spec: AppliedSpec;
      /** Addresses it keeps; others it held are free again. */
      keepIps: readonly string[];
    }>,
  ): void;
  /** Only when it has neither VM nor disk any more. */
  removeInstance(instance: InstanceUuid): void;
  addStray(stray: Stray): void;
}

/** Where intents and outcomes are kept: the database for the Director, a file for create-env. */
export interface Journal {
  /** Committed before the outside call. */
  open(given: {
    readonly taskId: number;
    readonly deployment: string;
    readonly instance: InstanceUuid | null;
    readonly step: string;
    readonly intent: JsonObject;
  }): Promise<IntentRecord>;
  /** The outcome and what it changes, in one transaction. Closing twice changes nothing. */
  close(
    id: number,
    how: "done" | "failed" | "undone" | "stray",
    write?: (writes: Writes) => void,
  ): Promise<void>;
  /** Changes that belong to no outside call. */
  write(write: (writes: Writes) => void): Promise<void>;
  /** Begun and not closed, oldest first. */
  openIntents(deployment: string): Promise<readonly IntentRecord[]>;
  /** Fresh from the store. */
  instance(uuid: InstanceUuid): Promise<InstanceRecord | undefined>;
  /** The instance that holds this agent, disk or VM, if any. */
  ownerOf(
    id: { readonly vm: VmCid } | { readonly disk: DiskCid } | { readonly agent: AgentId },
  ): Promise<InstanceRecord | undefined>;
}
