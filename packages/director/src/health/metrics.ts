import type { Exposition, Labels, Sample } from "../metrics/exposition.ts";
import { isAsWanted, STATUSES, type Status } from "./model.ts";
import type { HealthSnapshot, InstanceHealth } from "./snapshot.ts";

/** Writes the health of the fleet. */
export function healthMetrics(snapshot: HealthSnapshot | undefined, into: Exposition): void {
  const metric: Exposition["add"] = (...one) => into.add(...one);
  metric("slipway_health_watched", "gauge", "Whether instances are watched.", [
    [{}, snapshot === undefined ? 0 : 1],
  ]);
  if (snapshot === undefined) return;

  const { instances, settings, paused, held, meltdowns, resurrections, heard } = snapshot;
  metric("slipway_health_last_round_seconds", "gauge", "When the fleet was looked at last, since 1970.", [
    [{}, snapshot.at / 1000],
  ]);
  metric("slipway_health_instances", "gauge", "Instances by deployment and health.", counted(instances));
  metric("slipway_health_resurrections_total", "counter", "Instances for which a new VM was asked.", [
    [{}, resurrections],
  ]);
  metric("slipway_health_resurrection_enabled", "gauge", "Whether VMs are replaced.", [
    [{}, settings.resurrects && !paused && held === undefined ? 1 : 0],
  ]);
  metric(
    "slipway_health_meltdown",
    "gauge",
    "Deployments in which too many are down for VMs to be replaced.",
    [...meltdowns.keys()].map((deployment): Sample => [{ deployment }, 1]),
  );
  if (heard !== undefined) {
    metric("slipway_health_nats_connected", "gauge", "Whether agents on NATS can be heard.", [
      [{}, heard.connected ? 1 : 0],
    ]);
    metric(
      "slipway_health_messages_total",
      "counter",
      "Messages of agents on NATS, by kind.",
      Object.entries(heard.messages).map(([kind, count]): Sample => [{ kind }, count]),
    );
  }
  const of = (value: (one: InstanceHealth) => number | undefined): readonly Sample[] =>
    instances.flatMap((one): readonly Sample[] => {
      const found = value(one);
      return found === undefined ? [] : [[labelsOf(one), found]];
    });
  metric(
    "slipway_health_instance_healthy",
    "gauge",
    "Whether an instance is what it should be.",
    of(({ verdict: { status } }) =>
      status === "unknown" || status === "ignored" ? undefined : wellOf(status),
    ),
  );
  metric(
    "slipway_health_agent_answered_seconds",
    "gauge",
    "When an agent answered last, since 1970.",
    of(({ known }) => seconds(known?.answered?.at)),
  );
  metric(
    "slipway_health_certificate_until_seconds",
    "gauge",
    "When an agent's certificate ends, since 1970.",
    of(({ watched }) => seconds(watched.vm?.certificateUntil ?? undefined)),
  );
  metric(
    "slipway_health_memory_percent",
    "gauge",
    "Memory that is used.",
    of(({ known }) => known?.answered?.report.vitals.memory),
  );
  metric("slipway_health_disk_percent", "gauge", "Disk space that is used.", disks(instances));
}

const wellOf = (status: Status): number => (isAsWanted(status) ? 1 : 0);

const seconds = (at: number | undefined): number | undefined => (at === undefined ? undefined : at / 1000);

const labelsOf = ({ watched }: InstanceHealth): Labels => ({
  deployment: watched.deployment,
  instance_group: watched.group,
  index: watched.index,
  id: watched.uuid,
});

function counted(instances: readonly InstanceHealth[]): readonly Sample[] {
  const counts = new Map<string, Map<string, number>>();
  for (const { watched, verdict } of instances) {
    const its = counts.get(watched.deployment) ?? new Map<string, number>();
    its.set(verdict.status, (its.get(verdict.status) ?? 0) + 1);
    counts.set(watched.deployment, its);
  }
  return [...counts].flatMap(([deployment, its]) =>
    STATUSES.map((health): Sample => [{ deployment, health }, its.get(health) ?? 0]),
  );
}

const disks = (instances: readonly InstanceHealth[]): readonly Sample[] =>
  instances.flatMap((one) =>
    Object.entries(one.known?.answered?.report.vitals.disk ?? {}).map(
      ([disk, percent]): Sample => [{ ...labelsOf(one), disk }, percent],
    ),
  );
