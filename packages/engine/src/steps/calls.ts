import { agentId, type DiskCid, type RequestId, requestId } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type Disks, disks } from "@slipway/protocol/settings/disks";
import * as v from "valibot";
import { type CallOptions, type Channel, CpiRefused } from "../clouds/cloud.ts";
import type { VmRecord } from "../model/records.ts";
import type { FlowContext, FlowSettings } from "./context.ts";

/** Never the same twice: a repeat of an intent uses the one the intent holds. */
export const newRequestId = (context: Pick<FlowContext, "random">): RequestId =>
  `cpi-${context.random.hex(8)}` as RequestId;

/** Fields of every intent of a CPI call. */
export const callFields = {
  requestId,
  cpi: v.string(),
  stemcellApiVersion: v.optional(v.number()),
  disks: v.optional(disks),
};

/** Additional fields of every intent of a CPI call about a VM. */
export const vmCallFields = { ...callFields, channel: v.optional(v.picklist(["user-data", "registry"])) };

/** Version 1 of such intents has no channel: it was taken from the versions of the moment. */
export const WITHOUT_CHANNEL = { 1: (older: JsonObject): JsonObject => older };

export interface CallIntent {
  readonly requestId: RequestId;
  readonly cpi: string;
  readonly stemcellApiVersion?: number | undefined;
  readonly disks?: Disks | undefined;
  readonly channel?: Channel | undefined;
}

export const agentAddress = v.object({ agentId, agentUrl: v.string() });

/** Sent whole with every update_settings: what is left out there is taken away. */
export const settingsOfAgent = (
  linked: readonly { readonly name: string; readonly cid: DiskCid }[],
  { trustedCerts = "" }: Pick<FlowSettings, "trustedCerts">,
) => ({
  trusted_certs: trustedCerts,
  disk_associations: [...linked],
});

export const addressOf = ({ agentId, agentUrl }: VmRecord) => ({ agentId, agentUrl });

/** Returns the fields of every CPI intent about a VM. */
export const callAbout = (vm: VmRecord, context: FlowContext): CallIntent => ({
  requestId: newRequestId(context),
  cpi: vm.cpi,
  stemcellApiVersion: vm.stemcell.apiVersion,
  disks: vm.disks,
  channel: vm.channel,
});

export const optionsOf = (call: CallIntent, context: FlowContext): CallOptions => ({
  requestId: call.requestId,
  stemcellApiVersion: call.stemcellApiVersion,
  disks: call.disks,
  channel: call.channel,
  signal: context.signal,
  log: context.cpiLog,
});

/** For a further call of the same step, which must not be taken for a repeat of the first. */
export const freshOptions = (call: CallIntent, context: FlowContext): CallOptions => ({
  ...optionsOf(call, context),
  requestId: newRequestId(context),
});

export const withoutDisk = (disks: Disks, cid: string): Disks => ({
  ...disks,
  persistent: Object.fromEntries(Object.entries(disks.persistent ?? {}).filter(([key]) => key !== cid)),
});

/** Result of a step that makes one call for each of several resources. */
export interface PartDone<T> {
  readonly done: readonly T[];
  /** Refusal that kept the rest from being done. */
  readonly failed?: unknown;
}

/** Returns the part that was done before the CPI refused. Throws the error if nothing was done, or if the answer was lost. */
export function partOf<T>(done: readonly T[], error: unknown): PartDone<T> {
  if (done.length === 0 || !(error instanceof CpiRefused)) throw error;
  return { done, failed: error };
}
