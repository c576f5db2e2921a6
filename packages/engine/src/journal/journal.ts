import type { AgentId, DiskCid, VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { AuditEvent } from "../model/audit-event.ts";
import type { InstanceUuid } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { Effects } from "./writes.ts";

/** Key of an intent: the intents of a task are numbered, and no number is used twice. */
export interface IntentKey {
  readonly taskId: number;
  readonly number: number;
}

/** One step that was begun. In the journal until its outcome is known. */
export interface IntentRecord extends IntentKey {
  /** Name of a deployment, or for a stemcell `stemcell name/version cpi`. */
  readonly scope: string;
  readonly instance: InstanceUuid | null;
  readonly step: string;
  /** Version of the intent's schema. */
  readonly version: number;
  /** The planned call with the ids it uses: enough to settle it after a crash. */
  readonly intent: JsonObject;
  /** From a backup: another life of this Director may have gone on with it. */
  readonly restored?: boolean;
  /** An earlier task tried to settle it, and the CPI refused. */
  readonly settlingRefused?: boolean;
}

/** Changes that are written together, or not at all. */
export interface JournalEntry {
  /** Intent that is over. If it was closed before, nothing of the entry is written. */
  readonly close?: IntentKey | undefined;
  /** Record of an instance before and after; `after` null: the instance is removed. */
  readonly instance?: { readonly before: InstanceRecord; readonly after: InstanceRecord | null } | undefined;
  readonly effects: Effects;
  /** Intent that begins, committed before the outside call. */
  readonly open?: IntentRecord | undefined;
  /** For `bosh events`. */
  readonly events: readonly AuditEvent[];
}

/**
 * Stores intents and outcomes: in the database for a task of the Director, in the state file for create-env. The Director's
 * journal is fenced: once another process has taken over the task, it writes nothing.
 */
export interface Journal {
  readonly taskId: number;
  /** For the next intent. */
  newNumber(): number;
  commit(entry: JournalEntry): Promise<void>;
  /** Returns the intents that are not closed, of this task or of one that no process runs any more; oldest first. */
  openIntents(scope: string): Promise<readonly IntentRecord[]>;
  /** Reads the record from the store. */
  instance(uuid: InstanceUuid): Promise<InstanceRecord | undefined>;
  /** The instance that holds this agent, disk or VM, if any. */
  ownerOf(
    id: { readonly vm: VmCid } | { readonly disk: DiskCid } | { readonly agent: AgentId },
  ): Promise<InstanceRecord | undefined>;
}
