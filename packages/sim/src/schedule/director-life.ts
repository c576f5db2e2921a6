import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import type { TaskRunner } from "@slipway/director/tasks/runner";
import type { NewTask } from "@slipway/director/tasks/task";
import type { Journal } from "@slipway/engine/journal/journal";
import { systemClock } from "@slipway/kernel/clock";
import { directorInSim, type SimClients } from "../director/director-in-sim.ts";
import { seededRandom } from "../drivers/seeded-random.ts";
import { separateClouds } from "../world/separate-clouds.ts";
import { askSimAgent } from "../world/sim-agent.ts";
import { simCpi } from "../world/sim-cpi.ts";
import type { Lab } from "./lab.ts";
import type { HeldCall } from "./scheduler.ts";
import { VirtualClock } from "./virtual-clock.ts";

export interface DirectorLifeOptions {
  readonly seed: string;
  readonly cpi: { readonly remembers: boolean; readonly resizes: boolean };
  readonly snapshots: boolean;
  readonly dns: boolean;
  /** Put around the clients, inside the scheduler: what it changes happens when the call is let run. */
  readonly clients?: ((clients: SimClients) => SimClients) | undefined;
  readonly journal?: ((journal: Journal) => Journal) | undefined;
}

/** Next move of a driver: runs a call, kills the Director at it, lets time pass, or stops driving. */
export type DriverMove =
  | { readonly gate: HeldCall; readonly kills?: "before" | "after" }
  | "advance"
  | "stop";

const NEVER_MS = 1_000_000_000;
/** Age of the Director's clock over the database's: what the database notes is in the past. */
const AHEAD_MS = 3_600_000;
/** Far more than work without a sign takes. */
const UNSEEN_MS = 10_000;
/** Looks for work of an idle Director, after which it has none. */
const IDLE_ADVANCES = 1;

/** One Director from its start to its end or its death, in a lab. */
export class DirectorLife {
  readonly #lab: Lab;
  readonly #clock: VirtualClock;
  readonly director: TaskRunner;
  readonly errors: unknown[] = [];
  isDead = false;

  private constructor(lab: Lab, clock: VirtualClock, start: (errors: unknown[]) => TaskRunner) {
    this.#lab = lab;
    this.#clock = clock;
    this.director = start(this.errors);
  }

  static async begin(lab: Lab, options: DirectorLifeOptions): Promise<DirectorLife> {
    const store = await lab.store();
    const { world, scheduler } = lab;
    const clock = new VirtualClock(systemClock.now() + AHEAD_MS);
    const { remembers, resizes } = options.cpi;
    const cpi = separateClouds(
      world,
      embed(simCpi(world, { ...(remembers && { stateDir: join(lab.memory, "sdk") }), resizes })),
    );
    const plain: SimClients = {
      cpi: (request, of) => cpi(request, of),
      ask: (agent, method, args) => Promise.resolve(askSimAgent(world, agent, method, args)),
    };
    const inner = (options.clients ?? ((one) => one))(plain);
    const clients: SimClients = {
      cpi: (request, of) =>
        scheduler.enter({ kind: "cpi", name: request.method, actor: lab.actor() }, () =>
          inner.cpi(request, of),
        ),
      ask: (agent, method, args) =>
        scheduler.enter({ kind: "agent", name: method, actor: lab.actor() }, () =>
          inner.ask(agent, method, args),
        ),
    };
    return new DirectorLife(lab, clock, (errors) =>
      directorInSim({
        store,
        clients,
        clock,
        random: seededRandom(options.seed),
        uploadsDir: lab.uploadsDir,
        enableCpiResizeDisk: resizes,
        enableSnapshots: options.snapshots,
        dns: options.dns,
        flushMs: NEVER_MS,
        ...(options.journal !== undefined && { journal: options.journal }),
        onError: (error) => errors.push(error),
      }),
    );
  }

  /** Queues a task. The Director hears of it as soon as the scheduler lets its statement run. */
  enqueue(task: NewTask): void {
    this.director.enqueue(task).catch((error: unknown) => this.errors.push(error));
  }

  cancel(id: number): void {
    this.director.cancel(id).catch((error: unknown) => this.errors.push(error));
  }

  /** True when no task runs and no call waits. */
  get isIdle(): boolean {
    return this.director.load.busy === 0 && this.#lab.scheduler.ready.length === 0;
  }

  /** Lets the Director work, one choice after the other, until it is killed or the driver stops. */
  async drive(
    choose: (ready: readonly HeldCall[], life: DirectorLife) => DriverMove,
  ): Promise<"stopped" | "killed"> {
    const { scheduler } = this.#lab;
    for (;;) {
      await scheduler.settle();
      const choice = choose(scheduler.ready, this);
      if (choice === "stop") return "stopped";
      if (choice === "advance") {
        if (!this.#clock.advance()) await this.#awaitUnseen();
        continue;
      }
      const { gate, kills } = choice;
      if (kills !== "before") await scheduler.run(gate, kills === undefined ? "deliver" : "drop");
      if (kills === undefined) continue;
      this.isDead = true;
      await this.#lab.killStore();
      return "killed";
    }
  }

  /** Waits for work that has no sign, such as a new connection to the database, when there is nothing else to wait for. */
  async #awaitUnseen(): Promise<void> {
    for (let waited = 0; this.#lab.scheduler.ready.length === 0; waited += 1) {
      if (waited > UNSEEN_MS) throw new Error("nothing waits for anything");
      await systemClock.sleep(1);
    }
  }

  /** Runs all that waits, in the order in which it came, until the Director is idle. */
  async finish(maxSteps = 200_000): Promise<void> {
    let idle = 0;
    let steps = 0;
    await this.drive((ready) => {
      steps += 1;
      if (steps > maxSteps) throw new Error(`the Director does not come to an end: ${describe(ready)}`);
      const [gate] = ready;
      if (gate !== undefined) return { gate };
      if (this.director.load.busy > 0) return "advance";
      idle += 1;
      return idle > IDLE_ADVANCES ? "stop" : "advance";
    });
  }

  /** Ends an idle Director. */
  async end(): Promise<void> {
    const stopped = this.director.stop();
    await this.drive((ready) => (ready[0] === undefined ? "stop" : { gate: ready[0] }));
    await stopped;
  }
}

const describe = (ready: readonly HeldCall[]): string =>
  ready.map(({ kind, name }) => `${kind} ${name}`).join("; ");
