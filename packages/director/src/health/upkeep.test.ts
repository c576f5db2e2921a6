import { freshDatabase } from "@slipway/testkit/database";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seedShop, WEB_0 } from "../api/testing/seed.ts";
import { watchedInstances } from "../store/health.ts";
import { seenSinceRestore } from "../store/restores.ts";
import { upkeepNotes } from "./upkeep.ts";

const NOW = Date.parse("2026-01-31T12:00:00Z");
const DAY = 86_400_000;

let base: Awaited<ReturnType<typeof freshDatabase>>;
beforeEach(async () => {
  base = await freshDatabase();
  await seedShop(base.db);
  await base.db.updateTable("instances").set({ spec: "{}", update_completed: true }).execute();
  await base.db
    .updateTable("vms")
    .set({
      agent_url: "nats://10.0.0.6:4222",
      nats_trust: "old",
      certificate_until: new Date(NOW + 90 * DAY),
    })
    .execute();
});
afterEach(() => base.close());

const notes = async (nats?: { readonly mark: string; readonly next: string | undefined }) =>
  await upkeepNotes(base.db, nats && { now: () => nats }, await watchedInstances(base.db), NOW);

describe("pending upkeep", () => {
  it("is empty while all agents trust the right authorities, and their certificates last", async () => {
    expect(await notes({ mark: "old", next: undefined })).toEqual([]);
    expect(await notes()).toEqual([]);
  });

  it("is an authority of NATS that takes over, with the agents that have not taken it up", async () => {
    const who = [`web/${WEB_0} of shop`];
    expect(await notes({ mark: "new", next: "7" })).toEqual([
      {
        what: "another authority takes over on NATS: 1 agent has not taken up whom to believe on NATS",
        who,
      },
    ]);
    // The authority of a given server was changed, or an agent still believes the one that was dropped.
    expect(await notes({ mark: "new", next: undefined })).toEqual([
      { what: "1 agent has not taken up whom to believe on NATS", who },
    ]);
    expect(await notes({ mark: "old", next: "7" })).toEqual([
      { what: "another authority takes over on NATS", who: [] },
    ]);
  });

  it("is a certificate that ends soon, since it would have been renewed long before", async () => {
    await base.db
      .updateTable("vms")
      .set({ certificate_until: new Date(NOW + 29 * DAY) })
      .execute();
    expect(await notes()).toEqual([
      {
        what: "the certificates of 1 agent end within 30 days",
        who: [`web/${WEB_0} of shop`],
      },
    ]);
  });

  it("is a deployment whose cloud was not looked at since a restore, until it is", async () => {
    const taken = new Date(NOW - DAY);
    const { id } = await base.db
      .insertInto("restores")
      .values({ backup: "b", taken_at: taken })
      .returning("id")
      .executeTakeFirstOrThrow();
    await base.db.updateTable("deployments").set({ restored: id }).execute();
    expect(await notes()).toEqual([
      {
        what: "restored from a backup of 2026-01-30T12:00:00.000Z, 1 deployment not looked at yet; for each: `bosh -d NAME cloud-check`",
        who: ["shop"],
      },
    ]);
    await seenSinceRestore(base.db, "shop");
    expect(await notes()).toEqual([]);
  });
});
