import { rm } from "node:fs/promises";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import { saveConfig } from "@slipway/director/store/configs";
import { listProblems } from "@slipway/director/store/problems";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { directorInSim, type SimClients } from "../director/director-in-sim.ts";
import { seedWorld } from "../director/seed.ts";
import { openSimNats, simChannel } from "../director/sim-nats.ts";
import { serveWorld } from "../remote/serve-world.ts";
import { withFaults } from "../world/faults.ts";
import { instantClock } from "../world/instant-clock.ts";
import { separateClouds, type WorldCpis } from "../world/separate-clouds.ts";
import { askSimAgent } from "../world/sim-agent.ts";
import { type AskSim, simAgents } from "../world/sim-agents.ts";
import { type SimCpiOptions, simCpi } from "../world/sim-cpi.ts";
import { copyWorld } from "../world/snapshot.ts";
import { SimWorld } from "../world/world.ts";
import type { ChildOrder, ChildReport, EndedTask, Job, Mutant } from "./child-order.ts";
import { readDirectorRecords } from "./director-records.ts";
import { doJobs, endedTasks, laterClock } from "./jobs.ts";
import type { Lane, LaneSnapshot } from "./lane.ts";
import { type PointId, pointText } from "./points.ts";
import { releasesOf, variablesOf } from "./releases.ts";
import { runProgram } from "./run-program.ts";
import type { CrashScenario, StoredConfig, View } from "./scenario.ts";
import { type SecondFault, strike } from "./second-fault.ts";

export interface ChildRun {
  readonly jobs: readonly Job[];
  readonly cancels?: boolean | undefined;
  /** Points at which it is held, so that its state can be copied. It is killed at the last of them. */
  readonly stopAt?: readonly PointId[] | undefined;
  readonly uneven?: string | undefined;
  readonly killAfterMs?: number | undefined;
  readonly mutant?: Mutant | undefined;
  /** A fault that one of its calls meets. It does not die of it. */
  readonly second?: SecondFault | undefined;
}

/** A life of a Director that met a fault. */
export interface StruckLife {
  readonly tasks: readonly EndedTask[];
  readonly calls: readonly string[];
  /** Describes the fault; undefined: it was never met. */
  readonly hit: string | undefined;
  /** State that a dead Director has left. */
  readonly left: CrashSnapshot | undefined;
}

/** A world, a database and files as they were at one moment. Lives begin from it. */
export interface CrashSnapshot {
  readonly kept: LaneSnapshot;
  readonly world: SimWorld;
  readonly laterMs: number;
}

export const forget = ({ kept }: CrashSnapshot): Promise<void> =>
  rm(kept.files, { recursive: true, force: true });

const DAY_MS = 86_400_000;

/** The world, the database and the files of a lane, with a scenario's Directors in them. */
export class CrashLab {
  readonly #lane: Lane;
  readonly #scenario: CrashScenario;
  readonly world: SimWorld;
  /** Milliseconds by which its clock is ahead of the machine's. */
  #laterMs: number;

  private constructor(lane: Lane, scenario: CrashScenario, world: SimWorld, laterMs: number) {
    this.#lane = lane;
    this.#scenario = scenario;
    this.world = world;
    this.#laterMs = laterMs;
  }

  /** An empty Director with a stemcell and a cloud config. */
  static async fresh(lane: Lane, scenario: CrashScenario): Promise<CrashLab> {
    await lane.fresh();
    const world = new SimWorld();
    seedWorld(world);
    return new CrashLab(lane, scenario, world, 0);
  }

  static async at(
    lane: Lane,
    scenario: CrashScenario,
    { kept, world, laterMs }: CrashSnapshot,
  ): Promise<CrashLab> {
    await lane.giveBack(kept);
    return new CrashLab(lane, scenario, copyWorld(world), laterMs);
  }

  async moment(): Promise<CrashSnapshot> {
    const kept = await this.#lane.keep();
    return { kept, world: copyWorld(this.world), laterMs: this.#laterMs };
  }

  get #uploadsDir(): string {
    return join(this.#lane.memory, "uploads");
  }

  passDays(days: number): void {
    this.#laterMs += days * DAY_MS;
  }

  async save(configs: readonly StoredConfig[]): Promise<void> {
    for (const config of configs) await saveConfig(this.#lane.store.db, config);
  }

  async view(): Promise<View> {
    const { db } = this.#lane.store;
    const remembered = await readDirectorRecords(db);
    return {
      world: this.world,
      remembered,
      problems: await listProblems(db, "shop"),
      uploadsDir: this.#uploadsDir,
      ...(await releasesOf(db, this.#uploadsDir)),
      variables: await variablesOf(db),
      instance: (group, index = 0) => {
        const found = remembered.instances.find((one) => one.group === group && one.index === index);
        if (found === undefined) throw new Error(`there is no instance ${group}/${index}`);
        return found;
      },
    };
  }

  tasks(): Promise<readonly EndedTask[]> {
    return endedTasks(this.#lane.store);
  }

  /** A Director of this process, to the end of what it finds and of the jobs. */
  async runHere(order: Pick<ChildRun, "jobs" | "cancels">): Promise<readonly EndedTask[]> {
    return await this.#live(order, this.#clients(), systemClock);
  }

  /** Runs the same Director with a fault. Does not wait for a call that hangs. */
  async runStruck(order: Pick<ChildRun, "jobs" | "cancels">, second?: SecondFault): Promise<StruckLife> {
    let left: CrashSnapshot | undefined;
    const struck = strike(this.#clients(), second, async () => {
      left = await this.moment();
    });
    const tasks = await this.#live(order, struck.clients, instantClock());
    await struck.catchUp();
    return { tasks, calls: struck.calls, hit: struck.hit(), left };
  }

  #clients(): SimClients {
    const ask: AskSim = (agent, method, args) =>
      Promise.resolve(askSimAgent(this.world, agent, method, args));
    return { cpi: this.#cpis(), ask };
  }

  async #live(
    order: Pick<ChildRun, "jobs" | "cancels">,
    clients: SimClients,
    time: Clock,
  ): Promise<readonly EndedTask[]> {
    const { store } = this.#lane;
    const { ask } = clients;
    const clock = laterClock(time, this.#laterMs);
    const nats = this.#scenario.nats === true ? await openSimNats(store.db, ask) : undefined;
    const over = new AbortController();
    const onError = (error: unknown) => void process.stderr.write(`${String(error)}\n`);
    const director = directorInSim({
      store,
      clients,
      clock,
      random: systemRandom,
      uploadsDir: this.#uploadsDir,
      enableCpiResizeDisk: this.#scenario.cpi.resizes !== undefined,
      enableCpiUpdateDisk: this.#scenario.cpi.updates !== undefined,
      enableSnapshots: this.#scenario.snapshots ?? false,
      dns: this.#scenario.dns ?? false,
      nats,
      onError,
    });
    const monitor = {
      agents: simAgents(ask, clock, nats?.trust),
      channel: nats && simChannel(ask, clock, over.signal),
      ...{ clock, random: systemRandom, onError },
    };
    try {
      await doJobs(store, director, order, monitor);
      return await endedTasks(store);
    } finally {
      over.abort();
      await director.stop();
      // With a clock that hurries, its patience passes at once: what it still does must not meet the next life.
      while (director.load.busy > 0) await systemClock.sleep(2);
    }
  }

  /**
   * Runs a Director in a separate process, to its end or to its death. `held` is called while it stands still at a
   * point.
   */
  async runChild(
    { killAfterMs, ...order }: ChildRun,
    held: (point: PointId) => Promise<void> = () => Promise.resolve(),
  ): Promise<ChildReport | "killed"> {
    const { child, connection, functions, socket } = this.#lane;
    const server = await serveWorld(this.world, this.#cpis(), socket);
    const ahead = new Set(order.stopAt?.map(pointText));
    try {
      const full: ChildOrder = {
        ...order,
        connection,
        functions,
        world: socket,
        uploadsDir: this.#uploadsDir,
        enableCpiResizeDisk: this.#scenario.cpi.resizes !== undefined,
        enableCpiUpdateDisk: this.#scenario.cpi.updates !== undefined,
        enableSnapshots: this.#scenario.snapshots ?? false,
        dns: this.#scenario.dns ?? false,
        nats: this.#scenario.nats ?? false,
        laterMs: this.#laterMs,
      };
      return await runProgram(child, full, {
        killAfterMs,
        stopped: async (point) => {
          // What it has asked the cloud for goes on without it.
          await server.quiet();
          // The last one of this life: two that work side by side pass their points in another order each time.
          ahead.delete(pointText(point));
          if (ahead.size === 0) return "kill";
          await held(point);
          return "go on";
        },
      });
    } finally {
      await server.close();
      await rm(socket, { force: true });
    }
  }

  #cpis(): WorldCpis {
    const { remembers, resizes, updates } = this.#scenario.cpi;
    const options: SimCpiOptions = {
      ...(remembers && { stateDir: join(this.#lane.memory, "sdk") }),
      resizes: resizes ?? false,
      updates: updates ?? false,
    };
    const cpis = separateClouds(this.world, withFaults(this.world, embed(simCpi(this.world, options))));
    return (request, of) => this.#lane.track(cpis(request, of));
  }
}
