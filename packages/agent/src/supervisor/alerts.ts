import type { Alert } from "@slipway/protocol/agent/heartbeat";

/** Something that happened to a service, in monit's words. */
export interface MonitEvent {
  readonly id: string;
  readonly service: string;
  readonly event: string;
  readonly action: string;
  readonly description: string;
  readonly createdAt: number;
}

const critical = ["connection failed", "execution failed", "does not exist", "monit instance failed"];
const errors = ["checksum failed", "icmp failed", "pid failed", "ppid failed", "uid failed", "timeout"];
const warnings = [
  ...["connection changed", "content failed", "content doesn't match", "data access error", "invalid type"],
  ...["resource limit matched", "size failed", "size changed", "filesystem flags failed", "gid failed"],
  ...["heartbeat failed", "permission failed", "timestamp failed"],
];
const silent = [
  ...["action done", "exists", "content match", "timeout recovery", "monit instance changed"],
  ...["monit instance changed not", "invalid type succeeded"],
];

/** Upstream's severities: 1 critical to 4 ignored; undefined is not sent at all. */
export function severityOf(event: string): number | undefined {
  const name = event.toLowerCase().trim();
  if (silent.includes(name) || /( succeeded| not changed| changed not)$/.test(name)) return undefined;
  if (critical.includes(name)) return 1;
  if (errors.includes(name)) return 2;
  if (warnings.includes(name)) return 3;
  return name.endsWith(" changed") ? 4 : 2;
}

/** Upstream's form of an alert; undefined for an event that nobody is told of. */
export function alertOf(event: MonitEvent, ips: readonly string[]): Alert | undefined {
  const severity = severityOf(event.event);
  if (severity === undefined) return undefined;
  const where = ips.length === 0 ? "" : ` (${[...ips].sort().join(", ")})`;
  return {
    id: event.id,
    severity,
    title: `${event.service}${where} - ${event.event} - ${event.action}`,
    summary: event.description,
    created_at: event.createdAt,
  };
}
