import { openStore } from "@slipway/director/store/open";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { ChildOrder, ChildReport } from "../crash/child-order.ts";
import { installCrashPoints } from "../crash/points.ts";
import { directorInSim } from "../director/director-in-sim.ts";
import { simSealer } from "../director/sim-sealer.ts";
import { reachWorld } from "../remote/reach-world.ts";

/** A Director that resumes what it finds, does what it is told, and dies where it is told. */
async function main(order: ChildOrder): Promise<void> {
  const points = installCrashPoints(order.dieAt, () => process.kill(process.pid, "SIGKILL"));
  const store = await openStore({ sealer: simSealer, connection: order.connection });
  const world = await reachWorld(order.world);
  const director = directorInSim({
    store,
    doors: points.doors(world),
    clock: systemClock,
    random: systemRandom,
    uploadsDir: order.uploadsDir,
    enableCpiResizeDisk: order.enableCpiResizeDisk ?? false,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  director.start();
  const idle = async () => {
    for (;;) {
      const open = await store.db
        .selectFrom("tasks")
        .select("id")
        .where("state", "in", ["queued", "processing", "cancelling"])
        .execute();
      if (open.length === 0) return;
      await systemClock.sleep(10);
    }
  };
  await idle();
  for (const task of order.tasks) {
    await director.enqueue(task);
    await idle();
  }
  const tasks = await store.db.selectFrom("tasks").select(["id", "state", "result"]).orderBy("id").execute();
  const report: ChildReport = { hits: points.hits(), names: points.names, tasks };
  await new Promise<void>((resolve) => process.stdout.write(JSON.stringify(report), () => resolve()));
  process.exit(0);
}

void main(JSON.parse(process.argv[2] ?? "{}") as ChildOrder).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(3);
});
