import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { callCpi } from "../exec-cpi.ts";
import type { MixOf8 } from "../matrix/mixes.ts";
import { DirectorClient } from "./director-client.ts";
import { DirectorProcess } from "./director-process.ts";
import { cloudConfig } from "./documents.ts";
import { Look } from "./look.ts";
import { Notes } from "./notes.ts";
import type { Programs } from "./programs.ts";
import { Watch } from "./watch.ts";

export interface Tools {
  readonly programs: Programs;
  readonly clock: Clock;
  readonly random: Random;
  /** Where directories are made; the database of a Director, somebody else's process when we are root, must get there. */
  readonly parent: string;
  /** A command that runs the Director where its mounts do not meet those of others; default: none. */
  readonly within?: readonly string[] | undefined;
  /** Aborted when everything is to end. */
  readonly signal: AbortSignal;
}

const USER = "mixes";
const CALL_DEADLINE_MS = 60_000;

/** A Director of one age with a CPI of one age, in a directory of their own. */
export class Stage {
  readonly #tools: Tools;
  readonly dir: string;
  #watch: Watch | undefined;
  #director: DirectorProcess | undefined;
  #client: DirectorClient | undefined;
  readonly look: Look;
  readonly notes: Notes;

  private constructor(dir: string, tools: Tools) {
    this.#tools = tools;
    this.dir = dir;
    this.look = new Look({ cloud: this.cloud, state: this.#state });
    this.notes = new Notes(this.look);
  }

  static async open(ages: Pick<MixOf8, "director" | "cpi">, tools: Tools): Promise<Stage> {
    tools.signal.throwIfAborted();
    const dir = await mkdtemp(join(tools.parent, "slipway-mixes-"));
    const stage = new Stage(dir, tools);
    try {
      await chmod(dir, 0o711);
      await stage.#start(ages);
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  get client(): DirectorClient {
    if (this.#client === undefined) throw new Error("the Director is not started");
    return this.#client;
  }

  /** What could not be seen, and why. */
  get blind(): readonly string[] {
    return this.#watch?.problems ?? [];
  }

  get cloud(): string {
    return join(this.dir, "cloud");
  }

  get #state(): string {
    return join(this.dir, "state");
  }

  get #cpiConfig(): string {
    return join(this.dir, "cpi.json");
  }

  async #start({ director, cpi }: Pick<MixOf8, "director" | "cpi">): Promise<void> {
    const { programs, clock, random, signal } = this.#tools;
    this.#watch = await Watch.begin({
      dir: join(this.dir, "watch"),
      cpi: programs.cpi,
      eyes: this.notes,
      clock,
    });
    await this.#write("cpi.json", {
      cloud: {
        properties: {
          local: { dir: this.cloud, agent: programs.agent },
          debug: { cpi: { api_version: cpi } },
        },
      },
    });
    const password = random.hex(16);
    const configFile = await this.#write("director.json", {
      name: `director-v${director}`,
      users: [{ name: USER, password }],
      cpi: { exec_path: this.#watch.program, config_file: this.#cpiConfig },
      agent: { wait_timeout_s: 60 },
      director: { cpi_api_test_max_version: director },
      registry: { port: 0 },
    });
    this.#director = await DirectorProcess.start({
      program: programs.director,
      configFile,
      stateDir: this.#state,
      within: this.#tools.within ?? [],
      clock,
      signal,
    });
    const { url } = this.#director;
    const ca = await readFile(join(this.#state, "pki", "ca.crt"), "utf8");
    this.#client = new DirectorClient({ url, ca, user: USER, password, clock, signal });
    await this.client.ask("take the cloud config", {
      method: "POST",
      path: "/cloud_configs",
      type: "text/yaml",
      body: cloudConfig(rangeOf(Number(new URL(url).port))),
    });
  }

  async #write(name: string, document: object): Promise<string> {
    const path = join(this.dir, name);
    await writeFile(path, JSON.stringify(document), { mode: 0o600 });
    return path;
  }

  /** Ends everything it has started and leaves nothing, whatever state things are in. */
  async close(): Promise<void> {
    try {
      await this.#director?.stop();
      await this.#sweep();
    } finally {
      await this.#watch?.end();
      await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  /** By the CPI itself: it alone knows what a VM or a disk is made of. */
  async #sweep(): Promise<void> {
    for (const [kind, method] of [
      ["vms", "delete_vm"],
      ["disks", "delete_disk"],
    ] as const)
      for (const cid of await wholeThings(join(this.cloud, kind)))
        await callCpi(
          {
            path: this.#tools.programs.cpi,
            configFile: this.#cpiConfig,
            clock: this.#tools.clock,
            deadlineMs: CALL_DEADLINE_MS,
          },
          {
            method,
            arguments: [cid],
            context: { director_uuid: "sweep", vm: { stemcell: { api_version: 2 } } },
            api_version: 2,
          },
        );
  }
}

/** Addresses that no other Director has: there is one per port. */
const rangeOf = (port: number): string => `127.${port >> 8}.${port & 0xff}`;

/** A name with a dot is of something that is being made or removed. */
const wholeThings = async (room: string): Promise<string[]> =>
  (await readdir(room).catch(() => [])).filter((name) => !name.includes("."));
