import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import { saveConfig } from "@slipway/director/store/configs";
import { openStore, type Store } from "@slipway/director/store/open";
import { listProblems } from "@slipway/director/store/problems";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import pg from "pg";
import { directorInSim } from "../director/director-in-sim.ts";
import { seed } from "../director/seed.ts";
import { openSimNats } from "../director/sim-nats.ts";
import { simSealer } from "../director/sim-sealer.ts";
import { serveWorld } from "../remote/serve-world.ts";
import { cloudsApart, type WorldCpis } from "../world/clouds-apart.ts";
import { withFaults } from "../world/faults.ts";
import { askSimAgent } from "../world/sim-agent.ts";
import type { AskSim } from "../world/sim-agents.ts";
import { type SimCpiOptions, simCpi } from "../world/sim-cpi.ts";
import { copyWorld } from "../world/snapshot.ts";
import { SimWorld } from "../world/world.ts";
import type { ChildOrder, ChildReport, EndedTask, Job, Mutant } from "./child-order.ts";
import { doJobs, endedTasks, laterClock } from "./jobs.ts";
import { type PointId, readWritingFunctions } from "./points.ts";
import { releasesOf, variablesOf } from "./releases.ts";
import { readRemembered } from "./remembered.ts";
import type { CrashScenario, NewConfig, View } from "./scenario.ts";

/** Where children run: a database server, a directory, the child's program. */
export interface Lab {
  readonly connection: pg.PoolConfig;
  readonly dir: string;
  readonly child: string;
}

export interface ChildRun {
  readonly jobs: readonly Job[];
  readonly cancels?: boolean | undefined;
  readonly dieAt?: PointId | undefined;
  readonly uneven?: string | undefined;
  readonly killAfterMs?: number | undefined;
  readonly mutant?: Mutant | undefined;
}

const DAY_MS = 86_400_000;
/** Nothing here takes longer than seconds, not even on a busy machine. */
const LONGEST_RUN_MS = 300_000;

/** A world and a database as they were at one moment; runs begin from copies of both. */
export class Stage {
  readonly #lab: Lab;
  readonly #scenario: CrashScenario;
  readonly #database: string;
  readonly world: SimWorld;
  readonly #memory: string;
  /** How much later it is here than on the machine. */
  laterMs = 0;
  #functions: readonly string[] = [];
  #store: Promise<Store> | undefined;

  private constructor(lab: Lab, scenario: CrashScenario, database: string, world: SimWorld, memory: string) {
    this.#lab = lab;
    this.#scenario = scenario;
    this.#database = database;
    this.world = world;
    this.#memory = memory;
  }

  /** An empty Director with a stemcell and a cloud config. */
  static async fresh(lab: Lab, scenario: CrashScenario, name: string): Promise<Stage> {
    await admin(lab, `create database "${name}"`);
    const world = new SimWorld();
    const memory = await mkdtemp(join(lab.dir, "memory-"));
    const stage = new Stage(lab, scenario, name, world, memory);
    await mkdir(stage.uploadsDir, { recursive: true });
    await stage.withStore(({ db }) => seed(world, db));
    stage.#functions = [...(await readWritingFunctions(stage.#connection))];
    return stage;
  }

  async copy(name: string): Promise<Stage> {
    // What somebody is connected to cannot be copied.
    await this.#disconnect();
    await admin(this.#lab, `create database "${name}" template "${this.#database}"`);
    const memory = await mkdtemp(join(this.#lab.dir, "memory-"));
    await cp(this.#memory, memory, { recursive: true });
    const copy = new Stage(this.#lab, this.#scenario, name, copyWorld(this.world), memory);
    copy.laterMs = this.laterMs;
    copy.#functions = this.#functions;
    return copy;
  }

  get uploadsDir(): string {
    return join(this.#memory, "uploads");
  }

  passDays(days: number): void {
    this.laterMs += days * DAY_MS;
  }

  async save(configs: readonly NewConfig[]): Promise<void> {
    if (configs.length === 0) return;
    await this.withStore(async ({ db }) => {
      for (const config of configs) await saveConfig(db, config);
    });
  }

  /** Opened once: it is looked into again and again. */
  async withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    this.#store ??= openStore({ sealer: simSealer, connection: this.#connection });
    return await work(await this.#store);
  }

  async #disconnect(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    await (await store)?.close();
  }

  view(): Promise<View> {
    return this.withStore(async ({ db }) => {
      const remembered = await readRemembered(db);
      return {
        world: this.world,
        remembered,
        problems: await listProblems(db, "shop"),
        uploadsDir: this.uploadsDir,
        ...(await releasesOf(db, this.uploadsDir)),
        variables: await variablesOf(db),
        instance: (group, index = 0) => {
          const found = remembered.instances.find((one) => one.group === group && one.index === index);
          if (found === undefined) throw new Error(`there is no instance ${group}/${index}`);
          return found;
        },
      };
    });
  }

  tasks(): Promise<readonly EndedTask[]> {
    return this.withStore(endedTasks);
  }

  /** A Director of this process, to the end of what it finds and of the jobs. */
  runHere(order: Pick<ChildRun, "jobs" | "cancels">): Promise<readonly EndedTask[]> {
    return this.withStore(async (store) => {
      const cpi = this.#cpis();
      const ask: AskSim = (agent, method, args) =>
        Promise.resolve(askSimAgent(this.world, agent, method, args));
      const director = directorInSim({
        store,
        clients: { cpi, ask },
        clock: laterClock(systemClock, this.laterMs),
        random: systemRandom,
        uploadsDir: this.uploadsDir,
        enableCpiResizeDisk: this.#scenario.cpi.resizes !== undefined,
        enableCpiUpdateDisk: this.#scenario.cpi.updates !== undefined,
        enableSnapshots: this.#scenario.snapshots ?? false,
        dns: this.#scenario.dns ?? false,
        nats: this.#scenario.nats === true ? await openSimNats(store.db, ask) : undefined,
        onError: (error) => process.stderr.write(`${String(error)}\n`),
      });
      try {
        await doJobs(store, director, order);
        return await endedTasks(store);
      } finally {
        await director.stop();
      }
    });
  }

  /** A Director of a process of its own, to its end or to its death. */
  async runChild({ killAfterMs, ...order }: ChildRun): Promise<ChildReport | "killed"> {
    const socket = join(this.#memory, "world.sock");
    const server = await serveWorld(this.world, this.#cpis(), socket);
    try {
      const full: ChildOrder = {
        ...order,
        connection: this.#connection,
        functions: this.#functions,
        world: socket,
        uploadsDir: this.uploadsDir,
        enableCpiResizeDisk: this.#scenario.cpi.resizes !== undefined,
        enableCpiUpdateDisk: this.#scenario.cpi.updates !== undefined,
        enableSnapshots: this.#scenario.snapshots ?? false,
        dns: this.#scenario.dns ?? false,
        nats: this.#scenario.nats ?? false,
        laterMs: this.laterMs,
      };
      return await runProgram(this.#lab.child, full, killAfterMs);
    } finally {
      await server.close();
      await rm(socket, { force: true });
    }
  }

  async remove(): Promise<void> {
    await this.#disconnect();
    await admin(this.#lab, `drop database if exists "${this.#database}" with (force)`);
    await rm(this.#memory, { recursive: true, force: true });
  }

  get #connection(): pg.PoolConfig {
    return { ...this.#lab.connection, database: this.#database };
  }

  #cpis(): WorldCpis {
    const { remembers, resizes, updates } = this.#scenario.cpi;
    const options: SimCpiOptions = {
      ...(remembers && { stateDir: join(this.#memory, "sdk") }),
      resizes: resizes ?? false,
      updates: updates ?? false,
    };
    return cloudsApart(this.world, withFaults(this.world, embed(simCpi(this.world, options))));
  }
}

/** How many transactions the database server has numbered: those that changed or locked something, in all databases. */
export async function numberedTransactions(lab: Lab): Promise<number> {
  const [row] = await admin(lab, "select pg_snapshot_xmax(pg_current_snapshot())::text as next");
  return Number(row?.next);
}

async function admin(lab: Lab, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ ...lab.connection, database: "postgres" } as pg.ClientConfig);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

function runProgram(
  program: string,
  order: ChildOrder,
  killAfterMs: number | undefined,
): Promise<ChildReport | "killed"> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    let hangs = false;
    const kill =
      killAfterMs === undefined ? undefined : systemClock.after(killAfterMs, () => child.kill("SIGKILL"));
    const giveUp = systemClock.after(LONGEST_RUN_MS, () => {
      hangs = true;
      child.kill("SIGKILL");
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      kill?.();
      giveUp();
      if (hangs) return reject(new Error(`the Director has not come to an end: ${err.slice(-2000)}`));
      if (signal === "SIGKILL") return resolve("killed");
      if (code === 0) return resolve(JSON.parse(out) as ChildReport);
      reject(new Error(`the Director ended with ${code ?? signal}: ${err.slice(-2000)}`));
    });
  });
}
