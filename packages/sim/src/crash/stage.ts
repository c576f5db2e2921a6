import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type CpiClient, embed } from "@slipway/cpi-sdk/embed";
import { openStore } from "@slipway/director/store/open";
import { systemClock } from "@slipway/kernel/clock";
import pg from "pg";
import { furnish } from "../director/furnish.ts";
import { simSealer } from "../director/sim-sealer.ts";
import { serveWorld } from "../remote/serve-world.ts";
import { type SimCpiOptions, simCpi } from "../world/sim-cpi.ts";
import { copyWorld } from "../world/snapshot.ts";
import { SimWorld } from "../world/world.ts";
import type { ChildOrder, ChildReport } from "./child-order.ts";
import type { Scenario } from "./scenarios.ts";

/** Where children run: a database server, a directory, the child's program. */
export interface Lab {
  readonly connection: pg.PoolConfig;
  readonly dir: string;
  readonly child: string;
}

/** A world and a database as they were at one moment; runs begin from copies of both. */
export class Stage {
  readonly #lab: Lab;
  readonly #scenario: Scenario;
  readonly #database: string;
  readonly world: SimWorld;
  readonly #memory: string;

  private constructor(lab: Lab, scenario: Scenario, database: string, world: SimWorld, memory: string) {
    this.#lab = lab;
    this.#scenario = scenario;
    this.#database = database;
    this.world = world;
    this.#memory = memory;
  }

  /** An empty Director with a stemcell and a cloud config. */
  static async fresh(lab: Lab, scenario: Scenario, name: string): Promise<Stage> {
    await admin(lab, `create database "${name}"`);
    const world = new SimWorld();
    const store = await openStore({ sealer: simSealer, connection: { ...lab.connection, database: name } });
    await furnish(world, store.db);
    await store.close();
    const memory = await mkdtemp(join(lab.dir, "memory-"));
    return new Stage(lab, scenario, name, world, memory);
  }

  async copy(name: string): Promise<Stage> {
    await admin(this.#lab, `create database "${name}" template "${this.#database}"`);
    const memory = await mkdtemp(join(this.#lab.dir, "memory-"));
    await cp(this.#memory, memory, { recursive: true });
    return new Stage(this.#lab, this.#scenario, name, copyWorld(this.world), memory);
  }

  get connection(): pg.PoolConfig {
    return { ...this.#lab.connection, database: this.#database };
  }

  /** Runs a Director to its end, or to its death. */
  async run(
    order: Pick<ChildOrder, "tasks" | "dieAt">,
    killAfterMs?: number,
  ): Promise<ChildReport | "killed"> {
    const socket = join(this.#memory, "world.sock");
    const uploadsDir = join(this.#memory, "uploads");
    await mkdir(uploadsDir, { recursive: true });
    const server = await serveWorld(this.world, this.#cpi(), socket);
    try {
      const { resizes } = this.#scenario.cpi;
      const full: ChildOrder = {
        ...order,
        connection: this.connection,
        world: socket,
        uploadsDir,
        enableCpiResizeDisk: resizes,
      };
      return await runChild(this.#lab.child, full, killAfterMs);
    } finally {
      await server.close();
      await rm(socket, { force: true });
    }
  }

  async remove(): Promise<void> {
    await admin(this.#lab, `drop database if exists "${this.#database}" with (force)`);
    await rm(this.#memory, { recursive: true, force: true });
  }

  #cpi(): CpiClient {
    const { remembers, resizes } = this.#scenario.cpi;
    const options: SimCpiOptions = {
      ...(remembers && { stateDir: join(this.#memory, "sdk") }),
      resizes: resizes ?? false,
    };
    return embed(simCpi(this.world, options));
  }
}

async function admin(lab: Lab, sql: string): Promise<void> {
  const client = new pg.Client({ ...lab.connection, database: "postgres" } as pg.ClientConfig);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function runChild(
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
    const kill =
      killAfterMs === undefined ? undefined : systemClock.after(killAfterMs, () => child.kill("SIGKILL"));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      kill?.();
      if (signal === "SIGKILL") return resolve("killed");
      if (code === 0) return resolve(JSON.parse(out) as ChildReport);
      reject(new Error(`the Director ended with ${code ?? signal}: ${err.slice(-2000)}`));
    });
  });
}
