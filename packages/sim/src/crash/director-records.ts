import { listOrphanDisks } from "@slipway/director/store/disks";
import { loadInstances } from "@slipway/director/store/instances";
import { listNetworks } from "@slipway/director/store/networks";
import { listOrphanedVms } from "@slipway/director/store/orphaned-vms";
import type { Db } from "@slipway/director/store/schema";
import { listStemcells } from "@slipway/director/store/stemcells";
import { listStrays } from "@slipway/director/store/strays";
import type { DirectorRecords } from "../world/invariants.ts";

const isText = (value: unknown): value is string => typeof value === "string";

const OVER = ["done", "error", "cancelled", "timeout"] as const;

/** All a Director remembers, read from its store. */
export async function readDirectorRecords(db: Db): Promise<DirectorRecords> {
  const deployments = await db.selectFrom("deployments").select("name").orderBy("name").execute();
  const instances = await Promise.all(deployments.map(({ name }) => loadInstances(db, name)));
  const open = await db.selectFrom("intents").select(["step", "intent_sealed"]).execute();
  const unfinished = await db
    .selectFrom("tasks")
    .select(["id", "state"])
    .where("state", "not in", OVER)
    .execute();
  const left = await db
    .selectFrom("locks")
    .leftJoin("tasks", "tasks.id", "locks.task_id")
    .select("locks.name")
    .where((is) => is.or([is("tasks.state", "in", OVER), is("tasks.id", "is", null)]))
    .execute();
  return {
    instances: instances.flat(),
    stemcells: (await listStemcells(db)).map(({ name, version, cid }) => ({ name, version, cid })),
    orphanDisks: (await listOrphanDisks(db)).map(({ cid }) => cid),
    snapshots: (await db.selectFrom("snapshots").select("cid").execute()).map(({ cid }) => cid),
    networks: (await listNetworks(db)).map(({ name, ready, orphanedAt, deployments, subnets }) => ({
      ...{ name, ready, orphaned: orphanedAt !== null, deployments },
      subnets: subnets.map((subnet) => ({ name: subnet.name, cid: subnet.cid })),
    })),
    orphanedVms: (await listOrphanedVms(db)).map(({ cid }) => cid),
    openIntents: open.map(({ step }) => step),
    unsure: new Set(
      open.flatMap(({ intent_sealed: intent }) =>
        [intent.vm, intent.disk, intent.from, intent.to].filter(isText),
      ),
    ),
    strays: (await listStrays(db)).map(({ kind, about }) => ({ kind, about })),
    unfinished: unfinished.map(({ id, state }) => `${id} (${state})`),
    leftLocks: left.map(({ name }) => name),
  };
}
