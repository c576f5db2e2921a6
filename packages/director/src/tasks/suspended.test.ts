import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { Child } from "@slipway/testkit/child";
import { freshDatabase } from "@slipway/testkit/database";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { findTask } from "./list.ts";
import { queued, textOf } from "./testing/stage.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
beforeEach(async () => {
  base = await freshDatabase();
  return () => base.close();
});

const program = fileURLToPath(new URL("testing/runner-process.ts", import.meta.url));

/** Lease that is long enough for a busy machine: a Director loses its task only by the test. */
const LEASE_MS = 600_000;

async function director(name: string): Promise<Child> {
  const script = await bundle(program);
  const child = Child.node(script, name, String(LEASE_MS), JSON.stringify(base.connection));
  onTestFinished(() => child.kill());
  return child;
}

const lines = async (child: Child, count: number): Promise<readonly string[]> => {
  const heard: string[] = [];
  while (heard.length < count) heard.push(await child.line());
  return heard;
};
const signal = (child: Child, name: NodeJS.Signals) => process.kill(child.pid, name);
/** Sets the lease to expired, as if its time had passed. */
const passLease = (id: number) =>
  base.db
    .updateTable("tasks")
    .set({ lease_until: new Date(0) })
    .where("id", "=", id)
    .execute();

describe("a Director that was suspended past its lease, while another took its task over", () => {
  it("changes nothing any more: no record, event, intent, output, lock or end of the task", async () => {
    const id = await queued(base.db);
    const first = await director("first");
    expect(await first.line()).toBe("holds");
    signal(first, "SIGSTOP");
    await passLease(id);

    const second = await director("second");
    expect(await second.line()).toBe("holds");
    const lock = await base.db.selectFrom("locks").select("owner").executeTakeFirstOrThrow();

    signal(first, "SIGCONT");
    signal(first, "SIGUSR1");
    const refused = /is no longer run by this Director/;
    for (const line of await lines(first, 3)) expect(line).toMatch(refused);
    // It is out of its lock by its own account; the lock is the other's, who still works.
    expect(await base.db.selectFrom("locks").select("owner").execute()).toEqual([lock]);

    signal(second, "SIGUSR1");
    expect(await lines(second, 3)).toEqual(["records: written", "event: written", "intent: written"]);
    await expect.poll(async () => (await findTask(base.db, id))?.state).toBe("done");
    expect(await findTask(base.db, id)).toMatchObject({ state: "done", result: "result of second" });
    const output = await textOf(base.db, id, "event");
    expect([output.includes("output of first"), output.includes("output of second")]).toEqual([false, true]);
    const named = await Promise.all([
      base.db.selectFrom("deployments").select("name").execute(),
      base.db.selectFrom("events").select("object_name as name").where("object_type", "<>", "lock").execute(),
      base.db.selectFrom("intents").select("scope as name").execute(),
    ]);
    expect(named).toEqual([[{ name: "of-second" }], [{ name: "of-second" }], [{ name: "of-second" }]]);
    expect(await base.db.selectFrom("locks").selectAll().execute()).toEqual([]);
  });
});
