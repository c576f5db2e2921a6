import { once } from "node:events";
import { InstanceWriteBuffer } from "@slipway/engine/flows/run-steps";
import { systemClock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { KEY_BYTES, sealerOf } from "@slipway/kernel/sealer";
import { ensureDeployment } from "../../store/deployments.ts";
import { openStore } from "../../store/open.ts";
import { TaskRunner } from "../runner.ts";
import type { TaskContext } from "../task.ts";

/**
 * Runs a Director's process as far as tasks go. Its one task takes a lock, says `holds`, waits for SIGUSR1, then tries every way
 * there is to write, ignoring its signal, and says of each what became of it.
 */
async function main(name: string, leaseMs: number, connection: object): Promise<void> {
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const store = await openStore({ connection, sealer: sealerOf(Buffer.alloc(KEY_BYTES, 7), systemRandom) });
  const runner = new TaskRunner({
    db: store.db,
    clock: systemClock,
    random: systemRandom,
    alone: false,
    leaseMs,
    pollMs: 50,
    flushMs: 20,
    onError: () => undefined,
    works: {
      update_deployment: async (_, task) => {
        await task.withLock("lock:deployment:shop", 0, async () => {
          const told = once(process, "SIGUSR1");
          say("holds");
          await told;
          for (const [way, write] of Object.entries(waysToWrite(name, task)))
            say(
              `${way}: ${await write().then(
                () => "written",
                (error: unknown) => messageTrail(error),
              )}`,
            );
          task.warn(`output of ${name}`);
        });
        return `result of ${name}`;
      },
    },
  });
  runner.start();
  process.on("SIGTERM", () => {
    void runner.stop().then(() => process.exit(0));
  });
}

const waysToWrite = (name: string, task: TaskContext): Record<string, () => Promise<unknown>> => ({
  records: () => task.write((db) => ensureDeployment(db, `of-${name}`)),
  event: () => task.audit({ action: "create", objectType: "vm", objectName: `of-${name}` }),
  intent: () =>
    new InstanceWriteBuffer(task.journal).flush({
      taskId: task.id,
      number: task.journal.newNumber(),
      scope: `of-${name}`,
      instance: null,
      step: "create_stemcell",
      version: 2,
      intent: {},
    }),
});

const [, , name = "", leaseMs = "", connection = "{}"] = process.argv;
void main(name, Number(leaseMs), JSON.parse(connection) as object);
