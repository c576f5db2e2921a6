import type { DnsIds } from "@slipway/engine/jobs/dns/ids";
import { dnsIds, giveDnsIds, type NamedInDns, withProvisional } from "../../store/dns-ids.ts";
import type { TaskContext } from "../../tasks/task.ts";
import type { OperationContext } from "../operation.ts";

export interface DnsWanted {
  readonly named: NamedInDns;
  /** Deployments whose groups and instances are numbered. */
  readonly deployments: readonly string[];
  /** Instances that may not be recorded yet. */
  readonly uuids: readonly string[];
  readonly dryRun: boolean;
}

/** The numbers that names are made of. What has none gets one; in a dry run for its time only. */
export async function dnsNumbers(
  { named, deployments, uuids, dryRun }: DnsWanted,
  task: TaskContext,
  { db }: OperationContext,
): Promise<DnsIds> {
  if (!dryRun) await task.write((tx) => giveDnsIds(tx, named));
  return withProvisional(await dnsIds(db, deployments), named, uuids);
}
