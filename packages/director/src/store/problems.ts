import type { FoundProblem, ProblemRecord } from "@slipway/engine/model/problems";
import { resourceOf } from "@slipway/engine/model/problems";
import { sql } from "kysely";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

/** Replaces what earlier scans have found: what is found again keeps its number, what is not is closed. */
export function saveScan(db: Db, deploymentId: number, found: readonly FoundProblem[]): Promise<void> {
  return inTransaction(db, async (tx) => {
    const open = await tx
      .selectFrom("problems")
      .select(["id", "type", "resource", "times_seen"])
      .where("deployment_id", "=", deploymentId)
      .where("state", "=", "open")
      .forUpdate()
      .execute();
    for (const row of open) {
      const again = found.find((one) => one.type === row.type && resourceOf(one) === row.resource);
      await tx
        .updateTable("problems")
        .set(
          again === undefined
            ? { state: "closed" }
            : { data: JSON.stringify(again), times_seen: row.times_seen + 1, last_seen_at: sql<Date>`now()` },
        )
        .where("id", "=", row.id)
        .execute();
    }
    const fresh = found.filter(
      (one) => !open.some((row) => one.type === row.type && resourceOf(one) === row.resource),
    );
    if (fresh.length === 0) return;
    const rows = fresh.map((one) => ({
      deployment_id: deploymentId,
      type: one.type,
      resource: resourceOf(one),
      data: JSON.stringify(one),
    }));
    await tx.insertInto("problems").values(rows).execute();
  });
}

/** The open ones, oldest first. */
export async function listProblems(db: Db, deployment: string): Promise<ProblemRecord[]> {
  const rows = await db
    .selectFrom("problems as p")
    .innerJoin("deployments as d", "d.id", "p.deployment_id")
    .select(["p.id", "p.data"])
    .where("d.name", "=", deployment)
    .where("p.state", "=", "open")
    .orderBy("p.id")
    .execute();
  return rows.map(({ id, data }) => ({ ...data, id }));
}

/** An operator has decided, and it was done. */
export async function resolveProblem(db: Db, id: number): Promise<void> {
  await db.updateTable("problems").set({ state: "resolved" }).where("id", "=", id).execute();
}

/** Returns agents of VMs that no record names, and whose adoption is undecided. */
export async function agentsUnrecorded(db: Db): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("problems")
    .select("data")
    .where("state", "=", "open")
    .where("type", "=", "unrecorded_vm")
    .orderBy("id")
    .execute();
  return rows.flatMap(({ data }) => data.agent ?? []);
}
