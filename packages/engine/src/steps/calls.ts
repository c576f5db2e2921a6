import { agentId, type RequestId, requestId } from "@slipway/protocol/ids";
import { type Disks, disks } from "@slipway/protocol/settings/disks";
import * as v from "valibot";
import type { CallOptions } from "../clouds/cloud.ts";
import type { VmRecord } from "../model/records.ts";
import type { FlowContext } from "./context.ts";

/** Never the same twice: a repeat of an intent uses the one the intent holds. */
export const newRequestId = (context: Pick<FlowContext, "random">): RequestId =>
  `cpi-${context.random.hex(8)}` as RequestId;

/** What every intent of a CPI call holds. */
export const callFields = {
  requestId,
  cpi: v.string(),
  stemcellApiVersion: v.optional(v.number()),
  disks: v.optional(disks),
};

export interface CallIntent {
  readonly requestId: RequestId;
  readonly cpi: string;
  readonly stemcellApiVersion?: number | undefined;
  readonly disks?: Disks | undefined;
}

export const agentAddress = v.object({ agentId, agentUrl: v.string() });

export const addressOf = ({ agentId, agentUrl }: VmRecord) => ({ agentId, agentUrl });

/** What every CPI intent about a VM holds. */
export const callAbout = (vm: VmRecord, context: FlowContext): CallIntent => ({
  requestId: newRequestId(context),
  cpi: vm.cpi,
  stemcellApiVersion: vm.stemcell.apiVersion,
  disks: vm.disks,
});

export const optionsOf = (call: CallIntent, context: FlowContext): CallOptions => ({
  requestId: call.requestId,
  stemcellApiVersion: call.stemcellApiVersion,
  disks: call.disks,
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
