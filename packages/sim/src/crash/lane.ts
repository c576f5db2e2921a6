import { chmod, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Embedded, openEmbedded } from "@slipway/director/store/embedded/open";
import { openStore, type Store } from "@slipway/director/store/open";
import { systemClock } from "@slipway/kernel/clock";
import pg from "pg";
import { seed } from "../director/seed.ts";
import { simSealer } from "../director/sim-sealer.ts";
import { SimWorld } from "../world/world.ts";
import { readWritingFunctions } from "./points.ts";
import { type DatabaseRows, RowKeeper } from "./rows.ts";
import type { ChildProgram } from "./run-program.ts";

/** Name by which the server knows the connections of child Directors. */
const CHILD = "child";

/**
 * Home of one Director after the other: a separate database server, whose transactions are counted, and a directory.
 * Both are filled before each Director starts.
 */
export class Lane {
  readonly #admin: pg.Client;
  readonly #keeper: RowKeeper;
  readonly #dir: string;
  readonly #closeServer: () => Promise<void>;
  /** Program of a child Director. */
  readonly child: ChildProgram;
  /** For child Directors. */
  readonly connection: pg.PoolConfig;
  /** Store of this process. Opened once, because it is read often. */
  readonly store: Store;
  /** Functions of the database that write. */
  readonly functions: readonly string[];
  readonly #calls = new Set<Promise<unknown>>();
  /** An empty Director's, with a stemcell and two cloud configs. */
  #fresh: DatabaseRows | undefined;

  private constructor(
    given: Pick<Lane, "child" | "connection" | "store" | "functions">,
    own: { admin: pg.Client; keeper: RowKeeper; dir: string; closeServer: () => Promise<void> },
  ) {
    this.child = given.child;
    this.connection = given.connection;
    this.store = given.store;
    this.functions = given.functions;
    this.#admin = own.admin;
    this.#keeper = own.keeper;
    this.#dir = own.dir;
    this.#closeServer = own.closeServer;
  }

  static async open(parent: string, child: ChildProgram): Promise<Lane> {
    const dir = await mkdtemp(join(parent, "lane-"));
    // As root the database server runs as another user, who must be able to pass.
    await chmod(dir, 0o711);
    const server = await openEmbedded({
      stateDir: dir,
      clock: systemClock,
      durable: false,
      // Its transactions are counted: only the Director may make any. Its files may be in memory.
      settings: { autovacuum: "off", max_wal_size: "64MB", min_wal_size: "32MB" },
    });
    try {
      return await Lane.#on(server, dir, child);
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  static async #on({ connection, close }: Embedded, dir: string, child: ChildProgram): Promise<Lane> {
    const store = await openStore({ sealer: simSealer, connection });
    await seed(new SimWorld(), store.db);
    const admin = new pg.Client(connection as pg.ClientConfig);
    await admin.connect();
    const keeper = await RowKeeper.of(admin);
    const functions = [...(await readWritingFunctions(connection))];
    const lane = new Lane(
      { child, store, functions, connection: { ...connection, application_name: CHILD } },
      { admin, keeper, dir, closeServer: close },
    );
    lane.#fresh = await keeper.take();
    return lane;
  }

  /** Uploads, blobs, and what the CPI remembers: at the same place in every life, since tasks name it. */
  get memory(): string {
    return join(this.#dir, "memory");
  }

  /** Socket of the world, for child Directors. */
  get socket(): string {
    return join(this.#dir, "world.sock");
  }

  /**
   * Notes a call of a CPI, which works in `memory`. A call goes on when its Director is killed, and even when the next one
   * lives, but the directory is neither copied nor replaced meanwhile.
   */
  track<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    const over = () => void this.#calls.delete(call);
    call.then(over, over);
    return call;
  }

  async #callsOver(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }

  async fresh(): Promise<void> {
    await this.#callsOver();
    // Rows that were removed are in the way after a while.
    await this.#admin.query("vacuum");
    await this.#give(this.#fresh);
    await rm(this.memory, { recursive: true, force: true });
    await mkdir(join(this.memory, "uploads"), { recursive: true });
  }

  /** Rows and files as they are now, or when the calls under way have ended. */
  async keep(): Promise<LaneSnapshot> {
    await this.#callsOver();
    const rows = await this.#keeper.take();
    const files = await mkdtemp(join(this.#dir, "kept-"));
    await cp(this.memory, files, { recursive: true, preserveTimestamps: true });
    return { rows, files };
  }

  async giveBack({ rows, files }: LaneSnapshot): Promise<void> {
    await this.#callsOver();
    await this.#give(rows);
    await rm(this.memory, { recursive: true, force: true });
    await cp(files, this.memory, { recursive: true, preserveTimestamps: true });
  }

  async #give(rows: DatabaseRows | undefined): Promise<void> {
    if (rows === undefined) throw new Error("bug: the lane is not open");
    // A Director that was killed may have left a statement that is still at work.
    const left = "select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = $1";
    await this.#admin.query(left, [CHILD]);
    await this.#keeper.give(rows);
  }

  /** Returns how many transactions the database server has numbered: those that changed or locked something. */
  async numberedTransactions(): Promise<number> {
    const sql = "select pg_snapshot_xmax(pg_current_snapshot())::text as next";
    const { rows } = await this.#admin.query<{ next: string }>(sql);
    return Number(rows[0]?.next);
  }

  async close(): Promise<void> {
    try {
      await this.store.close();
      await this.#admin.end();
    } finally {
      await this.#closeServer();
    }
    await rm(this.#dir, { recursive: true, force: true });
  }
}

/** State that a Director leaves behind, except the world. */
export interface LaneSnapshot {
  readonly rows: DatabaseRows;
  /** A directory. */
  readonly files: string;
}
