import { systemRandom } from "@slipway/kernel/random";
import { sealerOf } from "@slipway/kernel/sealer";
import { sampleOf } from "@slipway/testkit/sample";
import { describe, expect, it } from "vitest";
import { setAttribute } from "../store/attributes.ts";
import { databaseOf } from "../store/embedded/left-behind.ts";
import type { Embedded } from "../store/embedded/open.ts";
import { later, opened, stateDirectory } from "../store/embedded/testing/lab.ts";
import { openStore } from "../store/open.ts";
import type { Db } from "../store/schema.ts";
import { deploymentLock } from "./locks.ts";
import type { TaskWork } from "./task.ts";
import { eventsOf, newTask, runnersOf, stateOf } from "./testing/stage.ts";

const TASKS = 11;

/** A store on a server of its own, which may be killed. */
async function killable(): Promise<{
  readonly embedded: Embedded;
  readonly db: Db;
  /** Returns the pid of the process that serves the data now, also of one that is only starting. */
  readonly server: () => Promise<number | undefined>;
}> {
  const dir = await stateDirectory();
  // What was committed must survive the kill, as it does for a Director.
  const embedded = await opened(dir, { durable: true });
  const store = await openStore({
    connection: embedded.connection,
    sealer: sealerOf(Buffer.alloc(32), systemRandom),
  });
  later(() => store.close());
  return { embedded, db: store.db, server: () => databaseOf(dir) };
}

describe("when the database server is killed under running tasks", () => {
  const KILLS: readonly [how: string, kills: number][] = [
    ["once", 1],
    ["again while it comes up", 3],
  ];
  it.each(sampleOf("database killed", KILLS, 1))(
    "%s, every one of them goes on by itself to its end",
    async (_, kills) => {
      const { embedded, db, server } = await killable();
      const runners = runnersOf(() => db);
      later(() => runners.stopAll());
      const begun = new Set<number>();
      /** Writes on and on until a write is lost with the server, and in the next run to its end. */
      const work: TaskWork = (_params, task) =>
        task.withLock(deploymentLock(`d${task.id}`), 0, () =>
          task.stage("Writing").step("all of it", async () => {
            for (let written = 0; written < 3 || task.attempt === 1; written++) {
              await task.write((tx) => setAttribute(tx, `task-${task.id}`, String(written)));
              begun.add(task.id);
            }
            return "";
          }),
        );
      const runner = runners.start({ update_deployment: work }, { workers: TASKS, alone: true });
      const ids = await Promise.all(Array.from({ length: TASKS }, () => runner.enqueue(newTask())));
      await expect.poll(() => begun.size).toBe(TASKS);
      let last = 0;
      for (let done = 0; done < kills; ) {
        const pid = await server();
        if (pid === undefined || pid === last) continue;
        process.kill(pid, "SIGKILL");
        last = pid;
        done += 1;
      }
      const states = () => Promise.all(ids.map((id) => stateOf(db, id).catch(() => "unknown")));
      await expect.poll(states).toEqual(ids.map(() => "done"));

      const all = await Promise.all(ids.map((id) => eventsOf(db, id)));
      const said = all.flat();
      expect(said.filter(({ state }) => state === "failed")).toEqual([]);
      expect(said.filter(({ error }) => error !== undefined)).toEqual([]);
      expect(said.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(
          /^the connection to the database was lost .* The task waits and goes on by itself\.$/,
        ),
      );
      expect(await db.selectFrom("locks").select("name").execute()).toEqual([]);
      // Tasks find the server by themselves, and may do so first.
      await expect.poll(() => embedded.trouble()).toBeUndefined();
    },
  );
});
