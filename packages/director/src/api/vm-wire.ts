import { parseBlock } from "@slipway/engine/manifest/ip";
import type { InstanceRecord, VmRecord } from "@slipway/engine/model/records";
import type { agreed, shownDisks } from "@slipway/protocol/director/instance";
import { redact } from "@slipway/protocol/schema/redact";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import { disks } from "@slipway/protocol/settings/disks";
import { rfc3339 } from "./times.ts";

/** Sorts addresses as upstream: by number, whatever their networks; each once. */
export const inAddressOrder = (ips: readonly string[]): string[] =>
  [...new Set(ips)].sort((a, b) => {
    const [first, second] = [parseBlock(a)?.first ?? 0n, parseBlock(b)?.first ?? 0n];
    return first < second ? -1 : first > second ? 1 : 0;
  });

/** Returns what both lists without `format=full` say of an instance and its VM. */
export const vmWire = (instance: InstanceRecord, vm: VmRecord | undefined) => ({
  agent_id: vm?.agentId ?? null,
  cid: vm?.cid ?? null,
  job: instance.group,
  index: instance.index,
  id: instance.uuid,
  az: instance.az,
  ips: inAddressOrder(instance.ips.map(({ address }) => address)),
  vm_created_at: vm === undefined ? null : rfc3339(vm.createdAt),
});

/** Ours, beside upstream's keys: what was agreed for the VM, how it came to its settings and what it has of disks. */
export const agreedWire = (vm: VmRecord): ReplyOf<typeof agreed> => ({
  cpi: vm.cpi,
  cpi_api_version: vm.apiVersion,
  stemcell_api_version: vm.stemcell.apiVersion,
  channel: vm.channel,
  // A hint may hold the password of an iSCSI target.
  disks: redact(disks, vm.disks) as ReplyOf<typeof shownDisks>,
  agent_url: vm.agentUrl,
});
