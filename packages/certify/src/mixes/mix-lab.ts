import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CertifyCloud, CloudPart } from "@slipway/cpi-sdk/certify-adapter";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { info } from "@slipway/protocol/director/info";
import { callCpi } from "../exec-cpi.ts";
import type { MixOf8 } from "../matrix/mixes.ts";
import { CallRecorder } from "./call-recorder.ts";
import { DirectorClient } from "./director-client.ts";
import { DirectorProcess } from "./director-process.ts";
import { cloudConfig } from "./documents.ts";
import type { MixPrograms } from "./programs.ts";
import { StateReader } from "./state-reader.ts";
import { CpiWatch } from "./watch.ts";

export interface MixTools {
  readonly programs: MixPrograms;
  readonly openCloud: () => Promise<CertifyCloud>;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Parent of the directories. The database of a Director must be able to reach it, as another user's process if we
   * are root.
   */
  readonly parent: string;
  /** A command that runs the Director where its mounts do not meet those of others; default: none. */
  readonly within?: readonly string[] | undefined;
  /** Aborted when everything is to end. */
  readonly signal: AbortSignal;
}

type Ages = Pick<MixOf8, "director" | "cpi">;

const USER = "mixes";
const CALL_DEADLINE_MS = 60_000;

/** A Director of one age with a CPI of one age, in a directory of their own. */
export class MixLab {
  readonly #tools: MixTools;
  readonly #ages: Ages;
  readonly dir: string;
  readonly part: CloudPart;
  #watch: CpiWatch | undefined;
  #director: DirectorProcess | undefined;
  #client: DirectorClient | undefined;
  readonly look: StateReader;
  readonly notes: CallRecorder;

  private constructor(dir: string, part: CloudPart, ages: Ages, tools: MixTools) {
    this.#tools = tools;
    this.dir = dir;
    this.part = part;
    this.look = new StateReader({ part, state: this.#state });
    this.#ages = ages;
    this.notes = new CallRecorder({
      look: this.look,
      ages,
      configure: async (access) => {
        await this.#configureCpi({ registry: access });
      },
    });
  }

  static async open(ages: Ages, cloud: CertifyCloud, tools: MixTools): Promise<MixLab> {
    tools.signal.throwIfAborted();
    const dir = await mkdtemp(join(tools.parent, "slipway-mixes-"));
    let stage: MixLab | undefined;
    try {
      await chmod(dir, 0o711);
      stage = new MixLab(dir, await cloud.part(dir), ages, tools);
      await stage.#start(ages);
      return stage;
    } catch (error) {
      await stage?.close();
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  get client(): DirectorClient {
    if (this.#client === undefined) throw new Error("the Director is not started");
    return this.#client;
  }

  /** Problems that kept the watch from seeing something. */
  get blind(): readonly string[] {
    return this.#watch?.problems ?? [];
  }

  get #state(): string {
    return join(this.dir, "state");
  }

  get #cpiConfig(): string {
    return join(this.dir, "cpi.json");
  }

  async #start({ director }: Ages): Promise<void> {
    const { programs, clock, random, signal } = this.#tools;
    this.#watch = await CpiWatch.begin({
      dir: join(this.dir, "watch"),
      cpi: programs.cpi,
      eyes: this.notes,
      clock,
    });
    await this.#configureCpi({});
    const password = random.hex(16);
    const configFile = await this.#write("director.json", {
      name: `director-v${director}`,
      users: [{ name: USER, password }],
      cpi: { exec_path: this.#watch.program, config_file: this.#cpiConfig },
      agent: { wait_timeout_s: 60 },
      director: { cpi_api_test_max_version: director },
      registry: { host: this.part.registryHost, port: 0 },
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
    const range = this.part.belongsTo({ uuid: await this.#uuid(), port: Number(new URL(url).port) });
    await this.client.ask("take the cloud config", {
      method: "POST",
      path: "/cloud_configs",
      type: "text/yaml",
      body: cloudConfig(range),
    });
  }

  async #configureCpi(more: object): Promise<void> {
    const debug = { cpi: { api_version: this.#ages.cpi } };
    await this.#write("cpi.json", { cloud: { properties: { ...this.part.properties, debug, ...more } } });
  }

  async #uuid(): Promise<string> {
    return (await this.client.document("say who it is", "/info", info)).uuid;
  }

  async #write(name: string, document: object): Promise<string> {
    const path = join(this.dir, name);
    await writeFile(path, JSON.stringify(document), { mode: 0o600 });
    return path;
  }

  /** Ends everything it has started and leaves nothing, whatever state things are in. */
  async close(): Promise<void> {
    try {
      await this.#emptyPart();
    } finally {
      await this.#watch?.end();
      await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  async #emptyPart(): Promise<void> {
    try {
      await this.#director?.stop();
      await this.#sweep();
    } finally {
      await this.part.close();
    }
  }

  /** Deletes VMs and disks through the CPI: only the CPI knows what they are made of. */
  async #sweep(): Promise<void> {
    for (const vm of await this.part.vms()) await this.#delete("delete_vm", vm);
    for (const disk of await this.part.disks()) await this.#delete("delete_disk", disk);
  }

  async #delete(method: "delete_vm" | "delete_disk", cid: string): Promise<void> {
    // A name with a dot is of something that is being made or removed.
    if (cid.includes(".")) return;
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
