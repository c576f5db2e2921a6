import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import { ensureDeployment } from "../../store/deployments.ts";
import { createInstances } from "../../store/instances.ts";
import type { Db } from "../../store/schema.ts";
import { Sealed } from "../../store/sealed.ts";

export const WEB_0 = "6f1c0000-0000-4000-8000-000000000000";
export const WEB_1 = "6f1c0000-0000-4000-8000-000000000001";

/** Disk hint with a password that must never be shown. */
const HINT = {
  path: "/dev/sdc",
  iscsi_settings: { initiator_name: "i", username: "u", target: "t", password: "canary-of-the-hint" },
};

/** Deployment `shop` with web/0, which has a VM and a disk, and web/1, which has neither. */
export async function seedShop(db: Db, teams: readonly string[] = []): Promise<void> {
  const { id } = await ensureDeployment(db, "shop", teams);
  const web = { group: "web" as GroupName, az: "z1", state: "started" as const };
  await createInstances(db, "shop", 1, [
    {
      ...web,
      uuid: WEB_0 as InstanceUuid,
      index: 0,
      bootstrap: true,
      ips: [{ address: "10.0.0.2", network: "a", static: false }],
    },
    { ...web, uuid: WEB_1 as InstanceUuid, index: 1, bootstrap: false, state: "detached", ips: [] },
  ]);
  const { id: instance } = await db
    .selectFrom("instances")
    .select("id")
    .where("uuid", "=", WEB_0)
    .executeTakeFirstOrThrow();
  await db
    .insertInto("vms")
    .values({
      instance_id: instance,
      cid: "vm-1",
      agent_id: "ag-1",
      active: true,
      cpi: "",
      created_at: new Date("2025-11-15T19:00:00Z"),
      stemcell_name: "tiny",
      stemcell_version: "1.10",
      stemcell_api_version: 3,
      api_version: 2,
      channel: "user-data",
      env_sealed: new Sealed({}),
      cloud_properties: "{}",
      networks: "{}",
      disks: JSON.stringify({ system: "/dev/sda", persistent: { "disk-1": HINT } }),
      agent_url: "https://10.0.0.2:6868",
    })
    .execute();
  await db
    .insertInto("persistent_disks")
    .values({
      instance_id: instance,
      cid: "disk-1",
      size: 1024,
      cloud_properties: "{}",
      cpi: "",
      active: true,
      attached_to: "vm-1",
      hint: JSON.stringify(HINT),
      mounted: true,
    })
    .execute();
  await db
    .updateTable("deployments")
    .set({ manifest_sealed: new Sealed("name: shop\n") })
    .where("id", "=", id)
    .execute();
}
