import { readdirSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { openStore } from "@slipway/director/store/open";
import { systemClock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import type { ChildOrder, ChildReport } from "../crash/child-order.ts";
import { doJobs, endedTasks, interruptedTasks, laterClock } from "../crash/jobs.ts";
import { switchOff, watchSteps } from "../crash/mutant.ts";
import { installCrashPoints, isSame, type PointId } from "../crash/points.ts";
import { strike } from "../crash/second-fault.ts";
import { unevenPauses } from "../crash/seeded.ts";
import { directorInSim } from "../director/director-in-sim.ts";
import { openSimNats, simChannel } from "../director/sim-nats.ts";
import { simSealer } from "../director/sim-sealer.ts";
import { reachWorld } from "../remote/reach-world.ts";
import { simAgents } from "../world/sim-agents.ts";

const NEVER_MS = 1_000_000_000;

/** The pipe on which it says where it stops. */
const STOPS = 3;

/** Nothing of this process happens from here on, in no thread, unless somebody lets it go on. */
function stop(point: PointId): void {
  writeSync(STOPS, `${JSON.stringify(point)}\n`);
  process.kill(process.pid, "SIGSTOP");
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

/** A Director that resumes what it finds, does what it is told, and stops where it is told. */
async function main(order: ChildOrder): Promise<void> {
  const store = await openStore({ sealer: simSealer, connection: order.connection });
  const world = await reachWorld(order.world);
  const pause = order.uneven === undefined ? undefined : unevenPauses(order.uneven, systemClock);
  const points = installCrashPoints({
    reached: (point) => {
      if (order.stopAt?.some((one) => isSame(one, point)) === true) stop(point);
    },
    functions: new Set(order.functions),
    files: () => filesIn(dirname(order.uploadsDir)),
    pause,
  });
  const withMutant = switchOff(order.mutant);
  const steps = watchSteps(() => points.passed().length);
  const never = () => Promise.reject(new Error("bug: a child dies at its points"));
  const { clients } = strike(points.clients(world), order.second, never);
  const clock = laterClock(systemClock, order.laterMs);
  const nats = order.nats ? await openSimNats(store.db, clients.ask) : undefined;
  const errors: string[] = [];
  const onError = (error: unknown) => {
    errors.push(messageTrail(error));
    process.stderr.write(`${String(error)}\n`);
  };
  const director = directorInSim({
    store,
    clients,
    clock: points.clock(clock),
    random: systemRandom,
    uploadsDir: order.uploadsDir,
    enableCpiResizeDisk: order.enableCpiResizeDisk,
    enableCpiUpdateDisk: order.enableCpiUpdateDisk,
    enableSnapshots: order.enableSnapshots,
    dns: order.dns,
    nats,
    journal: withMutant,
    // What tasks say is written with their end: a timer would write some of it, and how much depends on how fast they are.
    flushMs: NEVER_MS,
    onError,
  });
  const over = new AbortController();
  const monitor = {
    agents: simAgents(world.ask, clock, nats?.trust),
    channel: nats && simChannel(world.ask, clock, over.signal),
    ...{ clock, random: systemRandom, onError },
  };
  await doJobs(store, director, order, monitor);
  over.abort();
  // A task is over in the database before its run knows of it, and may have something to tidy up then.
  await director.stop();
  // Before it is asked for anything else: what follows is not the Director's doing.
  const [passed, transactions] = [points.passed(), points.transactions()];
  const [tasks, interrupted] = [await endedTasks(store), await interruptedTasks(store)];
  const report: ChildReport = { points: passed, transactions, tasks, steps, interrupted, errors };
  await new Promise<void>((resolve) => process.stdout.write(JSON.stringify(report), () => resolve()));
  process.exit(0);
}

void main(JSON.parse(process.argv[3] ?? "{}") as ChildOrder).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(3);
});
