import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Embedded, openEmbedded } from "@slipway/director/store/embedded/open";
import { openStore, type Store } from "@slipway/director/store/open";
import { systemClock } from "@slipway/kernel/clock";
import pg from "pg";
import { readWritingFunctions } from "../crash/points.ts";
import { type DatabaseRows, RowKeeper } from "../crash/rows.ts";
import { seed } from "../director/seed.ts";
import { simSealer } from "../director/sim-sealer.ts";
import { copyWorld } from "../world/snapshot.ts";
import { SimWorld } from "../world/world.ts";
import { gatedClient } from "./gated-client.ts";
import { CallScheduler } from "./scheduler.ts";

/** Statements wait for each other: more connections than this are never in use at once. */
const CONNECTIONS = 6;

/** Ends the sessions of Directors that are in a transaction, and returns them. */
const END_TRANSACTIONS = {
  name: "end-transactions",
  text: `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'slipway-director' and xact_start is not null`,
};

/** State of the database and of the cloud at one moment. */
export interface LabMoment {
  readonly rows: DatabaseRows;
  readonly world: SimWorld;
}

/** One database server and one directory in which one Director after the other lives, with a scheduler for their calls. */
export class Lab {
  readonly scheduler = new CallScheduler();
  readonly functions: ReadonlySet<string>;
  readonly admin: pg.Client;
  readonly #keeper: RowKeeper;
  readonly #connection: pg.PoolConfig;
  readonly #dir: string;
  readonly #closeServer: () => Promise<void>;
  /** An empty Director with a stemcell and a cloud config. */
  readonly #empty: LabMoment;
  #store: { readonly store: Store; readonly clients: Set<pg.Client>; closed: boolean } | undefined;
  #memories = 0;
  /** Names the operation that makes a call. Set by drivers that tell operations apart. */
  actor: () => string | undefined = () => undefined;
  world = new SimWorld();

  private constructor(own: {
    admin: pg.Client;
    keeper: RowKeeper;
    connection: pg.PoolConfig;
    functions: ReadonlySet<string>;
    dir: string;
    closeServer: () => Promise<void>;
    empty: LabMoment;
  }) {
    this.admin = own.admin;
    this.functions = own.functions;
    this.#keeper = own.keeper;
    this.#connection = own.connection;
    this.#dir = own.dir;
    this.#closeServer = own.closeServer;
    this.#empty = own.empty;
  }

  /** `parent`: a directory that the user of the database server can enter. */
  static async open(parent: string): Promise<Lab> {
    const dir = await mkdtemp(join(parent, "lab-"));
    // As root the database server runs as another user, who must get through.
    await chmod(dir, 0o711);
    const server = await openEmbedded({
      stateDir: dir,
      clock: systemClock,
      durable: false,
      settings: { autovacuum: "off", max_wal_size: "64MB", min_wal_size: "32MB" },
    });
    try {
      return await Lab.#on(server, dir);
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  static async #on({ connection, close }: Embedded, dir: string): Promise<Lab> {
    const store = await openStore({ sealer: simSealer, connection });
    const world = new SimWorld();
    await seed(world, store.db);
    await store.close();
    const admin = new pg.Client(connection as pg.ClientConfig);
    await admin.connect();
    const keeper = await RowKeeper.of(admin);
    const functions = await readWritingFunctions(connection);
    const empty = { rows: await keeper.take(), world };
    return new Lab({ admin, keeper, connection, functions, dir, closeServer: close, empty });
  }

  /** Uploads, blobs and the memory of the CPI. Each history has its own. */
  get memory(): string {
    return join(this.#dir, `memory-${this.#memories}`);
  }

  get uploadsDir(): string {
    return join(this.memory, "uploads");
  }

  /** Returns to a moment; undefined: to the empty Director. Files stay when the moment has files of this history. */
  async reset(moment: LabMoment = this.#empty, files: "fresh" | "keep" = "fresh"): Promise<void> {
    this.scheduler.clear();
    this.world = copyWorld(moment.world);
    await this.#keeper.give(moment.rows);
    if (files === "keep") return;
    await rm(this.memory, { recursive: true, force: true });
    this.#memories += 1;
    await mkdir(this.uploadsDir, { recursive: true });
  }

  async moment(): Promise<LabMoment> {
    return { rows: await this.#keeper.take(), world: copyWorld(this.world) };
  }

  /** Rows that were removed slow down every statement after some hundred histories. */
  async vacuum(): Promise<void> {
    await this.admin.query("vacuum");
  }

  /** The store of the next Director, whose statements wait for the scheduler. */
  async store(): Promise<Store> {
    if (this.#store !== undefined) return this.#store.store;
    const clients = new Set<pg.Client>();
    const own = { closed: false };
    const Client = gatedClient({
      scheduler: this.scheduler,
      functions: this.functions,
      isClosed: () => own.closed,
      actor: () => this.actor(),
    });
    class Counted extends Client {
      constructor(...args: ConstructorParameters<typeof Client>) {
        super(...args);
        clients.add(this);
      }
    }
    const store = await openStore({
      sealer: simSealer,
      connection: { ...this.#connection, max: CONNECTIONS, idleTimeoutMillis: 0, Client: Counted as never },
    });
    // A connection that is opened later would be work that the scheduler does not see.
    await Promise.all(
      Array.from({ length: CONNECTIONS }, () => store.db.selectFrom("restores").select("id").execute()),
    );
    own.closed = true;
    this.#store = Object.assign(own, { store, clients });
    return store;
  }

  /** Ends the connections of a Director that was killed. Its transactions are rolled back. */
  async killStore(): Promise<void> {
    this.scheduler.clear();
    const killed = this.#store;
    this.#store = undefined;
    if (killed === undefined) return;
    for (const client of killed.clients) {
      const { connection } = client as unknown as { readonly connection: { stream: { destroy(): void } } };
      connection.stream.destroy();
    }
    // A session in a transaction holds locks. An idle one may end later: it changes nothing any more.
    while ((await this.admin.query(END_TRANSACTIONS)).rows.length > 0) await systemClock.sleep(1);
  }

  async close(): Promise<void> {
    try {
      await this.killStore();
      await this.admin.end();
    } finally {
      await this.#closeServer();
    }
    await rm(this.#dir, { recursive: true, force: true });
  }
}
