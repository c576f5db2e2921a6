import { freshDatabase } from "@slipway/testkit/database";
import { sql } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { mustBeSeen } from "./since-restore.ts";

it("lets disks of a deployment that was checked since a restore be orphaned, and deletes none until all were", async () => {
  const { db, close } = await freshDatabase();
  onTestFinished(close);
  await sql`insert into restores (backup, taken_at) values ('b', now())`.execute(db);
  await sql`insert into deployments (name, canonical, restored) values ('bank', 'bank', (select id from restores)), ('shop', 'shop', null)`.execute(
    db,
  );
  await mustBeSeen({ type: "orphan_disk", deployment: "shop" }, db);
  await expect(mustBeSeen({ type: "orphan_disk", deployment: "bank" }, db)).rejects.toThrow("bank");
  await expect(mustBeSeen({ type: "delete_orphan_disks", deployment: undefined }, db)).rejects.toThrow(
    "bank",
  );
});
