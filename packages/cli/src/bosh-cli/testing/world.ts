import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll } from "vitest";
import { Bosh, type TableRow } from "./bosh.ts";
import { DirectorProcess } from "./director-process.ts";
import { cloudConfig, type Group, manifest } from "./documents.ts";
import { CpiGate } from "./gate.ts";
import { endLeftovers, stopVms } from "./leftovers.ts";
import { PROGRAMS } from "./requirements.ts";
import { makeStemcell } from "./stemcell.ts";

export interface WorldOptions {
  /** `slipway up`, with the CPI in its process. */
  readonly embedded?: boolean;
  /** The `director` part of its configuration. */
  readonly director?: object;
  /** Names of instances. */
  readonly localDns?: object;
  /** Further parts of its configuration. */
  readonly config?: object;
  /** Types of CPIs that a CPI config may name, and clouds of their own: directories beside the Director's. */
  readonly clouds?: {
    readonly programs: Readonly<Record<string, string>>;
    readonly names: readonly string[];
  };
  /** VMs have interfaces of their own, and so any port of theirs. Takes root. */
  readonly ownNetwork?: boolean;
}

export const ADMIN = { name: "admin", password: "correct horse" };
export const READER = { name: "reader", password: "battery staple" };

/** A Director with its cloud, and the CLI pointed at it. One per file: stories build on what they did. */
export class BoshWorld {
  readonly dir: string;
  readonly gate: CpiGate;
  readonly #embedded: boolean;
  readonly #ownNetwork: boolean;
  readonly #clouds: WorldOptions["clouds"];
  #director: DirectorProcess | undefined;
  #bosh: Bosh | undefined;
  #stateName = "state";

  private constructor(dir: string, gate: CpiGate, options: WorldOptions) {
    const { embedded = false, ownNetwork = false, clouds } = options;
    this.#clouds = clouds;
    this.dir = dir;
    this.gate = gate;
    this.#embedded = embedded;
    this.#ownNetwork = ownNetwork;
  }

  static async open(options: WorldOptions): Promise<BoshWorld> {
    const { embedded = false, director = {}, localDns = {}, config = {} } = options;
    const dir = await passableDirectory("story");
    await mkdir(join(dir, "home"));
    const gate = await CpiGate.make(join(dir, "gate"));
    const world = new BoshWorld(dir, gate, options);
    try {
      if (!embedded) await world.#configure(director, localDns, config);
      await world.start();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  async #configure(limits: object, localDns: object, more: object): Promise<void> {
    // Stories look into disks from outside.
    const local = { dir: this.cloud(), agent: PROGRAMS.agent, disks: "directory" };
    const cpi = { cloud: { properties: { local } } };
    const director = {
      name: "story",
      users: [ADMIN, { ...READER, scopes: ["bosh.read"] }],
      cpi: {
        exec_path: this.gate.path,
        config_file: await this.file("cpi.json", cpi),
        ...(this.#clouds !== undefined && { programs: this.#clouds.programs }),
      },
      agent: { wait_timeout_s: 60 },
      // Stories kill agents to see what operators can do about it.
      health: { enabled: false },
      director: limits,
      local_dns: localDns,
      ...more,
    };
    await this.file("director.json", director);
  }

  /** Starts it, again on the port it had. */
  async start(): Promise<void> {
    const port = String(this.#director?.port ?? 0);
    const config = ["--config", join(this.dir, "director.json")];
    this.#director = this.#embedded
      ? await DirectorProcess.start(PROGRAMS.slipway, ["up", "--port", port], { SLIPWAY_HOME: this.#state() })
      : await DirectorProcess.start(PROGRAMS.director, [
          ...config,
          "--state-dir",
          this.state(),
          "--port",
          port,
        ]);
    const password = this.#embedded
      ? (await readFile(this.state("admin-password"), "utf8")).trim()
      : ADMIN.password;
    this.#bosh = new Bosh(process.env.SLIPWAY_BOSH ?? "", {
      url: this.#director.url,
      ca: this.state("pki", "ca.crt"),
      user: ADMIN.name,
      password,
      home: join(this.dir, "home"),
    });
  }

  get bosh(): Bosh {
    if (this.#bosh === undefined) throw new Error("the Director is not started");
    return this.#bosh;
  }

  get director(): DirectorProcess {
    if (this.#director === undefined) throw new Error("the Director is not started");
    return this.#director;
  }

  /** Returns a path in the Director's state directory. */
  state(...path: readonly string[]): string {
    return this.#state(...(this.#embedded ? ["director"] : []), ...path);
  }

  #state(...path: readonly string[]): string {
    return join(this.dir, this.#stateName, ...path);
  }

  /** Simulates a move to another machine: from its next start on, the Director uses another directory beside the first. */
  moveTo(name: string): void {
    this.#stateName = name;
  }

  /** Returns a path in the directory of the local CPI: vms, disks, stemcells. */
  cloud(...path: readonly string[]): string {
    return this.#embedded ? this.#state("cloud", ...path) : join(this.dir, "cloud", ...path);
  }

  /** Returns a path in another cloud of a CPI config. */
  otherCloud(name: string, ...path: readonly string[]): string {
    return join(this.dir, "clouds", name, ...path);
  }

  /** Returns a path in the content of a disk. */
  disk(cid: string, ...path: readonly string[]): string {
    return this.cloud("disks", cid, "content", ...path);
  }

  /** Addresses that no other story has: there is one Director per port. */
  get net(): string {
    const { port } = this.director;
    return `${this.#ownNetwork ? 10 : 127}.${port >> 8}.${port & 0xff}`;
  }

  async file(name: string, document: object): Promise<string> {
    const path = join(this.dir, name);
    await writeFile(path, JSON.stringify(document), { mode: 0o600 });
    return path;
  }

  manifest(deployment: string, ...groups: readonly Group[]): Promise<string> {
    return this.file(`${deployment}.yml`, manifest(deployment, ...groups));
  }

  /** A stemcell and a cloud config: what every deploy needs. */
  async seed(): Promise<void> {
    const { file } = await makeStemcell(this.dir, "1.0");
    await this.bosh.run("upload-stemcell", file);
    await this.bosh.run("update-cloud-config", await this.file("cloud.yml", cloudConfig(this.net)));
  }

  async deploy(deployment: string, groups: readonly Group[], ...flags: readonly string[]) {
    return await this.bosh.run(
      "-d",
      deployment,
      "deploy",
      await this.manifest(deployment, ...groups),
      ...flags,
    );
  }

  /** Returns the rows of `instances --details`, sorted by index. */
  async instances(deployment: string): Promise<readonly TableRow[]> {
    const rows = await this.bosh.rows("-d", deployment, "instances", "--details");
    return [...rows].sort((a, b) => Number(a.index) - Number(b.index));
  }

  /** Returns the log of a VM's agent, which names the requests it received. */
  async agentLog(vm: string): Promise<string> {
    return await readFile(this.cloud("vms", vm, "agent.log"), "utf8");
  }

  async close(): Promise<void> {
    try {
      for (const { name = "" } of (await this.#bosh?.say("deployments"))?.rows ?? [])
        await this.#bosh?.say("-d", name, "delete-deployment", "--force");
      await this.#director?.stop();
    } finally {
      for (const name of this.#clouds?.names ?? []) await stopVms(this.otherCloud(name));
      await endLeftovers(this.state(), this.cloud());
      await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** The world of a file, closed after its last test. */
export function openWorld(options: WorldOptions = {}): () => BoshWorld {
  let world: BoshWorld | undefined;
  beforeAll(async () => {
    world = await BoshWorld.open(options);
  });
  afterAll(() => world?.close());
  return () => {
    if (world === undefined) throw new Error("there is no world");
    return world;
  };
}
