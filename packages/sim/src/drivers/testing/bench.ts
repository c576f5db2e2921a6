import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import type { Db } from "@slipway/director/store/schema";
import { readOutput } from "@slipway/director/tasks/output";
import type { TaskRunner } from "@slipway/director/tasks/runner";
import type { NewTask } from "@slipway/director/tasks/task";
import type { Blobs } from "@slipway/engine/blobs/blobs";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { freshDatabase } from "@slipway/testkit/database";
import pg from "pg";
import { readDirectorRecords } from "../../crash/director-records.ts";
import type { Scenario } from "../../crash/scenarios.ts";
import { blobsInSim, directorInSim, type SimDirectorOptions } from "../../director/director-in-sim.ts";
import { seed, seedWorld } from "../../director/seed.ts";
import { openSimNats } from "../../director/sim-nats.ts";
import { instantClock } from "../../world/instant-clock.ts";
import { brokenInvariants, type DirectorRecords } from "../../world/invariants.ts";
import { askSimAgent } from "../../world/sim-agent.ts";
import { simCpi } from "../../world/sim-cpi.ts";
import { copyWorld } from "../../world/snapshot.ts";
import { SimWorld } from "../../world/world.ts";
import { seededRandom } from "../seeded-random.ts";
import { type Interference, type OutsideCall, watchClients } from "../watch-clients.ts";

export interface EndedTask {
  readonly id: number;
  readonly state: string;
  /** Error line of the event log, which the operator reads. */
  readonly message: string;
  readonly result: string;
  readonly calls: readonly OutsideCall[];
  readonly changing: readonly string[];
}

export interface BenchRunOptions {
  readonly interference?: Interference;
  readonly seed: string;
  readonly configServer?: ConfigServer | undefined;
  /** Clock of the Director. By default time passes while nothing is due. */
  readonly clock?: Clock | undefined;
  /** Put around the Director's blobs: to let them fail. */
  readonly blobs?: ((blobs: Blobs) => Blobs) | undefined;
  /** Renderer of templates; default: one without a Ruby. */
  readonly renderer?: SimDirectorOptions["renderer"];
  /** Settings of the Director. */
  readonly settings?: SimDirectorOptions["settings"];
  readonly operations?: SimDirectorOptions["operations"];
  /** Receives the alerts for health monitors. */
  readonly tellMonitors?: SimDirectorOptions["tellMonitors"];
  /** A further task, queued when the Director makes its nth call, or else when the others are over. */
  readonly also?: { readonly task: NewTask; readonly atCall: number } | undefined;
  /** Called when the task is queued: to cancel it. */
  readonly onQueued?: (id: number, director: TaskRunner) => void;
}

const OVER = ["done", "error", "cancelled", "timeout"];
const TABLES = `select tablename from pg_tables where schemaname = 'public' and tablename <> 'migrations'`;

/** A separate database that goes back to a moment as often as needed, and the world of that moment. */
export class Bench {
  readonly db: Db;
  readonly #database: Awaited<ReturnType<typeof freshDatabase>>;
  readonly #admin: pg.Client;
  readonly #memory: string;
  #scenario: Pick<Scenario, "cpi"> = { cpi: { remembers: true } };
  #tables: readonly string[] = [];
  #moment = new SimWorld();
  world = new SimWorld();

  readonly #dns: boolean;
  readonly #nats: boolean;
  readonly #snapshots: boolean;

  private constructor(
    database: Awaited<ReturnType<typeof freshDatabase>>,
    admin: pg.Client,
    memory: string,
    more: { readonly dns: boolean; readonly nats: boolean; readonly snapshots: boolean },
  ) {
    this.#dns = more.dns;
    this.#nats = more.nats;
    this.#snapshots = more.snapshots;
    this.#database = database;
    this.db = database.db;
    this.#admin = admin;
    this.#memory = memory;
  }

  /** `dns`: instances have names. `nats`: agents are on the bus. `snapshots`: of disks are taken. */
  static async open({ dns = false, nats = false, snapshots = false } = {}): Promise<Bench> {
    const database = await freshDatabase();
    const admin = new pg.Client(database.connection as pg.ClientConfig);
    await admin.connect();
    const memory = await mkdtemp(join(tmpdir(), "slipway-bench-"));
    const bench = new Bench(database, admin, memory, { dns, nats, snapshots });
    await mkdir(bench.uploadsDir);
    const { rows } = await admin.query<{ tablename: string }>(TABLES);
    bench.#tables = rows.map(({ tablename }) => tablename);
    await seed(bench.world, bench.db);
    await admin.query("create schema empty; create schema moment");
    await bench.#keep("empty");
    return bench;
  }

  /** Brings a scenario to the moment before its task, which `rewind` comes back to. */
  async prepare(scenario: Pick<Scenario, "cpi" | "before">): Promise<void> {
    await this.#restore("empty");
    this.#scenario = scenario;
    this.world = new SimWorld();
    seedWorld(this.world);
    for (const task of scenario.before) {
      const { state, message } = await this.run(task, { seed: "before" });
      if (state !== "done") throw new Error(`the way to the scenario fails: ${message}`);
    }
    this.#moment = copyWorld(this.world);
    await this.#keep("moment");
  }

  get uploadsDir(): string {
    return join(this.#memory, "uploads");
  }

  /** Lists the blobs of releases that the Director keeps. */
  blobs(): Promise<readonly string[]> {
    return blobsInSim(this.uploadsDir).list();
  }

  async rewind(): Promise<void> {
    await this.#restore("moment");
    this.world = copyWorld(this.#moment);
  }

  /** Content of the disks in use at the moment. */
  get kept(): ReadonlySet<string> {
    return new Set([...this.#moment.disks.values()].flatMap(({ data }) => data ?? []));
  }

  /** A Director that lives for these tasks, all queued at once; what `also` came to is the last. */
  async runAll(tasks: readonly NewTask[], options: BenchRunOptions): Promise<readonly EndedTask[]> {
    const { remembers, resizes } = this.#scenario.cpi;
    const { world } = this;
    const cpi = embed(
      simCpi(world, {
        ...(remembers && { stateDir: join(this.#memory, "sdk") }),
        resizes: resizes ?? false,
      }),
    );
    const { also, interference } = options;
    let further: Promise<number> | undefined;
    const queueFurther = () => {
      if (also !== undefined) further ??= director.enqueue(also.task);
    };
    const heard =
      <K extends keyof Interference>(which: K): NonNullable<Interference[K]> =>
      (call: OutsideCall, carryOut: never) => {
        if (call.nth === also?.atCall) queueFurther();
        return interference?.[which]?.(call, carryOut) as undefined;
      };
    const watched = watchClients(
      {
        cpi: (request) => cpi.request(request),
        ask: (agent, method, args) => Promise.resolve(askSimAgent(world, agent, method, args)),
      },
      { cpi: heard("cpi"), ask: heard("ask") },
    );
    const errors: unknown[] = [];
    const director = directorInSim({
      store: this.#database.store,
      clients: watched.clients,
      clock: options.clock ?? instantClock(),
      random: seededRandom(options.seed),
      uploadsDir: this.uploadsDir,
      configServer: options.configServer,
      blobs: options.blobs,
      renderer: options.renderer,
      tellMonitors: options.tellMonitors,
      enableCpiResizeDisk: resizes !== undefined,
      enableSnapshots: this.#snapshots,
      dns: this.#dns,
      settings: options.settings,
      operations: options.operations,
      nats: this.#nats ? await openSimNats(this.db, watched.clients.ask) : undefined,
      onError: (error) => errors.push(error),
    });
    director.start();
    try {
      const ids = await Promise.all(tasks.map((task) => director.enqueue(task)));
      for (const id of ids) options.onQueued?.(id, director);
      const ended: EndedTask[] = [];
      const end = async (id: number) => {
        ended.push({ ...(await this.endOf(id)), calls: watched.calls, changing: watched.changing() });
      };
      for (const id of ids) await end(id);
      queueFurther();
      if (further !== undefined) await end(await further);
      if (errors.length > 0) throw new Error(`troubles nobody waits for: ${errors.map(String).join("; ")}`);
      return ended;
    } finally {
      await director.stop();
      // Its patience passes at once. What it began by itself must not meet the world of the next run.
      while (director.load.busy > 0) await systemClock.sleep(2);
    }
  }

  /** Waits for the end of a task, and returns how it ended. */
  async endOf(id: number): Promise<Omit<EndedTask, "calls" | "changing">> {
    const { state, result } = await this.#end(id);
    return { id, state, result: result ?? "", message: await this.#errorOf(id) };
  }

  async run(task: NewTask, options: BenchRunOptions): Promise<EndedTask> {
    const [ended] = await this.runAll([task], options);
    if (ended === undefined) throw new Error("bug: no task");
    return ended;
  }

  /** Returns all rows of the database as text, as a reader of a copy sees them. */
  async rowsAsText(): Promise<string> {
    const texts: string[] = [];
    for (const table of this.#tables) {
      const { rows } = await this.#admin.query<{ text: string }>(`select t::text as text from ${table} t`);
      texts.push(...rows.map(({ text }) => text));
    }
    return texts.join("\n");
  }

  remembered(): Promise<DirectorRecords> {
    return readDirectorRecords(this.db);
  }

  async broken(): Promise<readonly string[]> {
    return brokenInvariants(this.world, await this.remembered());
  }

  /** Content that was on a disk at the moment and is nowhere now. */
  lost(): readonly string[] {
    const now = new Set([...this.world.disks.values()].map(({ data }) => data));
    return [...this.kept].filter((data) => !now.has(data)).map((data) => `data is gone: ${data}`);
  }

  /**
   * Returns true if some data of the moment is only on orphaned disks: an instance that needs a disk gets a new one.
   */
  async setAside(): Promise<boolean> {
    const { instances } = await this.remembered();
    const used = new Set(
      instances.flatMap(({ disks }) => disks.map(({ cid }) => this.world.disks.get(cid)?.data)),
    );
    return [...this.kept].some((data) => !used.has(data));
  }

  /** Instances whose disk is not mounted or linked, or is not the one with their data. */
  async misplaced(anew = false): Promise<readonly string[]> {
    const { instances } = await this.remembered();
    return instances.flatMap(({ group, index, disks, vms }) =>
      disks
        .filter(({ active }) => active)
        .flatMap(({ cid, name }) => {
          const vm = vms.find(({ active }) => active);
          const agent = this.world.vms.get(vm?.cid ?? "")?.agent;
          const mounted = (name === undefined ? agent?.store : agent?.links.get(name)) === cid;
          const content = this.world.disks.get(cid)?.data ?? null;
          const right = mounted && (anew || this.kept.size === 0 || this.kept.has(content ?? ""));
          return right ? [] : [`${group}/${index} has ${mounted ? "other data" : "its disk not mounted"}`];
        }),
    );
  }

  async close(): Promise<void> {
    await this.#admin.end();
    await this.#database.close();
    await rm(this.#memory, { recursive: true, force: true });
  }

  async #end(id: number): Promise<{ readonly state: string; readonly result: string | null }> {
    for (;;) {
      const row = await this.db
        .selectFrom("tasks")
        .select(["state", "result"])
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      if (OVER.includes(row.state)) return row;
      await systemClock.sleep(2);
    }
  }

  async #errorOf(id: number): Promise<string> {
    const text = (await readOutput(this.db, id, "event")).data.toString();
    const lines = text.split("\n").filter((line) => line.includes('"error"'));
    const last = JSON.parse(lines.at(-1) ?? "{}") as { readonly error?: { readonly message?: string } };
    return last.error?.message ?? "";
  }

  async #keep(schema: string): Promise<void> {
    const sql = this.#tables.map(
      (table) =>
        `drop table if exists ${schema}.${table}; create table ${schema}.${table} as table public.${table};`,
    );
    await this.#admin.query(sql.join("\n"));
  }

  async #restore(schema: string): Promise<void> {
    const sql = this.#tables.map(
      (table) =>
        `delete from public.${table}; insert into public.${table} overriding system value table ${schema}.${table};`,
    );
    await this.#admin.query(`begin; set local session_replication_role = replica; ${sql.join("\n")} commit`);
  }
}
