import type { Exposition, Sample } from "../metrics/exposition.ts";
import type { SelfSeen } from "./look.ts";

/** Writes metrics of the Director itself. Unknown values have no sample. */
export function selfMetrics(seen: SelfSeen, into: Exposition): void {
  const { name, uuid, version, queue, workers, database, disk, certificates, nats } = seen;
  const gauge = (metric: string, help: string, samples: readonly Sample[]) =>
    into.add(metric, "gauge", help, samples);
  const one = (value: number | null | undefined): readonly Sample[] =>
    value === null || value === undefined ? [] : [[{}, value]];
  gauge("slipway_director_info", "Which Director this is.", [[{ name, uuid, version }, 1]]);
  gauge("slipway_director_start_seconds", "When it was started, since 1970.", one(seen.since));
  gauge("slipway_director_problems", "What keeps it from working at present.", one(seen.problems.length));
  gauge(
    "slipway_tasks",
    "Tasks that have not ended, by state.",
    queue ? (["queued", "processing", "cancelling"] as const).map((state) => [{ state }, queue[state]]) : [],
  );
  gauge(
    "slipway_tasks_oldest_queued_seconds",
    "How long the first in the queue has waited.",
    queue ? [[{}, queue.oldest_queued_s ?? 0]] : [],
  );
  gauge("slipway_workers", "Tasks that may run at once here.", one(workers.slots));
  gauge("slipway_workers_busy", "Tasks that run here.", one(workers.busy));
  gauge("slipway_database_up", "Whether the database answers.", one(database.reachable ? 1 : 0));
  gauge("slipway_database_size_bytes", "Of the database.", one(database.size_bytes));
  gauge("slipway_disk_free_bytes", "Of the state directory's file system.", one(disk?.free_bytes));
  gauge("slipway_disk_size_bytes", "Of the state directory's file system.", one(disk?.size_bytes));
  gauge(
    "slipway_certificate_until_seconds",
    "When a certificate of the Director ends, since 1970.",
    certificates.map(({ certificate_path: certificate, expiry }) => [
      { certificate },
      Date.parse(expiry) / 1000,
    ]),
  );
  gauge(
    "slipway_nats_connected",
    "Whether there is a connection to NATS.",
    nats ? one(nats.connected ? 1 : 0) : [],
  );
}
