import type { DirectorStatus } from "@slipway/protocol/director/status";
import { fieldsTable } from "../ui/fields-table.ts";
import { sizeText } from "../ui/size-text.ts";
import { localTimeText } from "../ui/time-text.ts";
import type { Table } from "../ui/ui.ts";

/** How a Director is, as it says itself. */
export const directorTable = (now: DirectorStatus): Table => ({
  labeled: true,
  ...fieldsTable("", [
    ["name", "Name", now.name],
    ["uuid", "UUID", now.uuid],
    ["version", "Version", now.version],
    ["since", "Since", localTimeText(now.since * 1000)],
    ["problems", "Problems", now.problems.length === 0 ? "none" : now.problems.join("\n")],
    ...(now.restored ? [["restored", "Restored", restoredText(now.restored)] as const] : []),
    ["queue", "Queue", queueText(now.queue)],
    ["workers", "Workers", `${now.workers.busy} busy, ${now.workers.slots} at once`],
    ["database", "Database", databaseText(now.database)],
    ["disk", "Disk", diskText(now.disk)],
    ["certificates", "Certificates", now.certificates.map(certificateText).join("\n")],
    ["nats", "NATS", now.nats ? (now.nats.connected ? "connected" : "not connected") : "none"],
  ]),
});

function restoredText({
  taken_at: taken,
  not_looked_at: unseen,
}: NonNullable<DirectorStatus["restored"]>): string {
  const many = `${unseen.length} deployment${unseen.length === 1 ? "" : "s"}`;
  const todo = unseen.map((name) => `slipway -d ${name} cloud-check`);
  return [`from a backup of ${localTimeText(taken * 1000)}, ${many} not looked at yet:`, ...todo].join("\n");
}

function queueText(queue: DirectorStatus["queue"]): string {
  if (!queue) return "unknown";
  const { queued, processing, cancelling, oldest_queued_s: oldest } = queue;
  const waits = oldest == null ? "" : `, the first for ${Math.round(oldest)} s`;
  const ends = cancelling === 0 ? "" : `, ${cancelling} being cancelled`;
  return `${processing} running, ${queued} waiting${waits}${ends}`;
}

function databaseText({
  kind,
  reachable,
  size_bytes: size,
  answered_ms: ms,
}: DirectorStatus["database"]): string {
  if (!reachable) return `${kind}, does not answer`;
  return [
    kind,
    ...(size == null ? [] : [sizeText(size)]),
    ...(ms == null ? [] : [`answers in ${ms} ms`]),
  ].join(", ");
}

const diskText = (disk: DirectorStatus["disk"]): string =>
  disk ? `${sizeText(disk.free_bytes)} free of ${sizeText(disk.size_bytes)} at ${disk.directory}` : "unknown";

const certificateText = ({
  certificate_path: path,
  expiry,
  days_left: days,
}: DirectorStatus["certificates"][number]) => `${path} until ${expiry} (${days} days)`;
