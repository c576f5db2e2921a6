import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openStore } from "@slipway/director/store/open";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { ChildOrder, ChildReport } from "../crash/child-order.ts";
import { doJobs, endedTasks, laterClock } from "../crash/jobs.ts";
import { switchOff, watchSteps } from "../crash/mutant.ts";
import { installCrashPoints } from "../crash/points.ts";
import { unevenPauses } from "../crash/seeded.ts";
import { directorInSim } from "../director/director-in-sim.ts";
import { openSimNats } from "../director/sim-nats.ts";
import { simSealer } from "../director/sim-sealer.ts";
import { reachWorld } from "../remote/reach-world.ts";

const NEVER_MS = 1_000_000_000;

/** Nothing of this process happens after it, not even what follows in this function. */
function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("bug: alive after SIGKILL");
}

/** Uploads and blobs: what there is, and since when. */
function filesIn(dir: string): string {
  const found = readdirSync(dir, { recursive: true, withFileTypes: true });
  const of = (path: string) => {
    const { size, mtimeMs, ino } = statSync(path, { throwIfNoEntry: false }) ?? {};
    return [path, size, mtimeMs, ino].join(" ");
  };
  return found.map((one) => of(join(one.parentPath, one.name))).join("\n");
}

/** A Director that resumes what it finds, does what it is told, and dies where it is told. */
async function main(order: ChildOrder): Promise<void> {
  const store = await openStore({ sealer: simSealer, connection: order.connection });
  const world = await reachWorld(order.world);
  const pause = order.uneven === undefined ? undefined : unevenPauses(order.uneven, systemClock);
  const points = installCrashPoints({
    dieAt: order.dieAt,
    die,
    functions: new Set(order.functions),
    files: () => filesIn(dirname(order.uploadsDir)),
    pause,
  });
  const withMutant = switchOff(order.mutant);
  const steps = watchSteps(() => points.passed().length);
  const clients = points.clients(world);
  const director = directorInSim({
    store,
    clients,
    clock: points.clock(laterClock(systemClock, order.laterMs)),
    random: systemRandom,
    uploadsDir: order.uploadsDir,
    enableCpiResizeDisk: order.enableCpiResizeDisk,
    enableCpiUpdateDisk: order.enableCpiUpdateDisk,
    enableSnapshots: order.enableSnapshots,
    dns: order.dns,
    nats: order.nats ? await openSimNats(store.db, clients.ask) : undefined,
    journal: withMutant,
    // What tasks say is written with their end: a timer would write some of it, and how much depends on how fast they are.
    flushMs: NEVER_MS,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  await doJobs(store, director, order);
  // A task is over in the database before its run knows of it, and may have something to tidy up then.
  await director.stop();
  // Before it is asked for anything else: what follows is not the Director's doing.
  const [passed, transactions] = [points.passed(), points.transactions()];
  const report: ChildReport = { points: passed, transactions, tasks: await endedTasks(store), steps };
  await new Promise<void>((resolve) => process.stdout.write(JSON.stringify(report), () => resolve()));
  process.exit(0);
}

void main(JSON.parse(process.argv[2] ?? "{}") as ChildOrder).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(3);
});
