import type { AgentId, DiskCid, VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { AuditEvent } from "../model/audit-event.ts";
import type { InstanceUuid } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { Effects } from "./writes.ts";

/** Which intent: those of a task are numbered, and no number is given twice. */
export interface IntentKey {
  readonly taskId: number;
  readonly number: number;
}

/** One step that was begun. In the journal until its outcome is known. */
export interface IntentRecord extends IntentKey {
  /** What it is part of: a deployment's name, or for a stemcell `stemcell name/version cpi`. */
  readonly scope: string;
  readonly instance: InstanceUuid | null;
  readonly step: string;
  /** Of the intent's form. */
  readonly version: number;
  /** What was to be done, with the ids it uses: enough to settle it after a crash. */
  readonly intent: JsonObject;
  /** From a backup: another life of this Director may have gone on with it. */
  readonly restored?: boolean;
}

/** What is written together, or not at all. */
export interface Entry {
  /** Is over. One that was closed before: nothing of the entry is written. */
  readonly close?: IntentKey | undefined;
  /** What is known of an instance, before and after; `after` null: it is removed. */
  readonly instance?: { readonly before: InstanceRecord; readonly after: InstanceRecord | null } | undefined;
  readonly effects: Effects;
  /** Begins: committed before the outside call. */
  readonly open?: IntentRecord | undefined;
  /** For `bosh events`. */
  readonly events: readonly AuditEvent[];
}

/**
 * Where intents and outcomes are kept: the database for a task of the Director, the state file for create-env. The
 * Director's is fenced: once another has taken over the task, it writes nothing any more.
 */
export interface Journal {
  readonly taskId: number;
  /** For the next intent. */
  newNumber(): number;
  commit(entry: Entry): Promise<void>;
  /** Begun and not closed, by this task or by one that nobody runs any more; oldest first. */
  openIntents(scope: string): Promise<readonly IntentRecord[]>;
  /** Fresh from the store. */
  instance(uuid: InstanceUuid): Promise<InstanceRecord | undefined>;
  /** The instance that holds this agent, disk or VM, if any. */
  ownerOf(
    id: { readonly vm: VmCid } | { readonly disk: DiskCid } | { readonly agent: AgentId },
  ): Promise<InstanceRecord | undefined>;
}
