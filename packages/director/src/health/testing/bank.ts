import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import { sql } from "kysely";
import { ensureDeployment } from "../../store/deployments.ts";
import { createInstances } from "../../store/instances.ts";
import type { Db } from "../../store/schema.ts";
import { Sealed } from "../../store/sealed.ts";

/** Adds another deployment with so many VMs, whose agents are `bank-0` and so on. */
export async function seedBank(db: Db, count: number): Promise<void> {
  await ensureDeployment(db, "bank");
  const uuid = (index: number) =>
    `7a000${String(index).padStart(3, "0")}-0000-4000-8000-000000000000` as InstanceUuid;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const safe = { group: "safe" as GroupName, az: "z1", state: "started" as const, bootstrap: false, ips: [] };
  await createInstances(
    db,
    "bank",
    1,
    indexes.map((index) => ({ ...safe, uuid: uuid(index), index })),
  );
  const { instance_id: _, id: __, ...vm } = await db.selectFrom("vms").selectAll().executeTakeFirstOrThrow();
  for (const index of indexes) {
    const { id } = await db
      .selectFrom("instances")
      .select("id")
      .where("uuid", "=", uuid(index))
      .executeTakeFirstOrThrow();
    await db
      .insertInto("vms")
      .values({
        ...vm,
        env_sealed: new Sealed({}),
        cloud_properties: "{}",
        networks: "{}",
        disks: "{}",
        instance_id: id,
        cid: `vm-bank-${index}`,
        agent_id: `bank-${index}`,
      })
      .execute();
  }
  await db.updateTable("instances").set({ spec: "{}", update_completed: true }).execute();
  // It is deployed: there is something to miss.
  await sql`update deployments set manifest_sealed = (select manifest_sealed from deployments where name = 'shop')`.execute(
    db,
  );
}
