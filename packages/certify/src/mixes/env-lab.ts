import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CertifyCloud, CloudPart } from "@slipway/cpi-sdk/certify-adapter";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { freePort } from "@slipway/kernel/ports";
import { AgentClient } from "../agent/client.ts";
import { callCpi } from "../exec-cpi.ts";
import { CallRecorder } from "./call-recorder.ts";
import { type EnvOrder, envManifest } from "./documents.ts";
import type { MixTools } from "./mix-lab.ts";
import { StateReader } from "./state-reader.ts";
import { CpiWatch } from "./watch.ts";

const PORT = 6868;
const CALL_DEADLINE_MS = 60_000;

/** `slipway create-env` with a CPI of one age, in a directory of its own. */
export class CreateEnvLab {
  readonly #tools: MixTools;
  readonly #cpi: 1 | 2;
  readonly #password: string;
  #watch: CpiWatch | undefined;
  #ip = "";
  #range = "";
  #deployed = false;
  readonly dir: string;
  readonly part: CloudPart;
  readonly look: StateReader;
  readonly notes: CallRecorder;

  private constructor(dir: string, part: CloudPart, cpi: 1 | 2, tools: MixTools) {
    this.#tools = tools;
    this.#cpi = cpi;
    this.#password = tools.random.hex(16);
    this.dir = dir;
    this.part = part;
    this.look = new StateReader({ part, state: join(dir, "state.slipway") });
    this.notes = new CallRecorder({
      look: this.look,
      ages: { director: 2, cpi },
      configure: (access) => this.#configureCpi({ registry: access }),
    });
  }

  static async open(cpi: 1 | 2, cloud: CertifyCloud, tools: MixTools): Promise<CreateEnvLab> {
    tools.signal.throwIfAborted();
    const dir = await mkdtemp(join(tools.parent, "slipway-mixes-"));
    await chmod(dir, 0o711);
    const stage = new CreateEnvLab(dir, await cloud.part(dir), cpi, tools);
    try {
      await stage.#begin();
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  get blind(): readonly string[] {
    return this.#watch?.problems ?? [];
  }

  async #begin(): Promise<void> {
    const { programs, clock, random } = this.#tools;
    const dir = join(this.dir, "watch");
    this.#watch = await CpiWatch.begin({ dir, cpi: programs.cpi, eyes: this.notes, clock });
    await this.#configureCpi({});
    const uuid = random.uuid();
    this.#range = this.part.belongsTo({ uuid, port: await freePort(random) });
    this.#ip = `${this.#range}.10`;
    // Who deploys is known beforehand: some clouds tell their things apart by it.
    await writeFile(join(this.dir, "state.json"), JSON.stringify({ director_id: uuid }), { mode: 0o600 });
  }

  async #configureCpi(more: object): Promise<void> {
    const debug = { cpi: { api_version: this.#cpi } };
    const properties = { ...this.part.properties, debug, ...more };
    await writeFile(join(this.dir, "cpi.json"), JSON.stringify({ cloud: { properties } }), { mode: 0o600 });
  }

  async deploy(order: Pick<EnvOrder, "name" | "stemcell" | "disk" | "agent">, ...flags: readonly string[]) {
    const manifest = envManifest({
      ...order,
      range: this.#range,
      ip: this.#ip,
      cpi: this.#watch?.program ?? "",
      cpiConfig: join(this.dir, "cpi.json"),
      mbus: this.#mbus,
    });
    await writeFile(join(this.dir, "env.json"), manifest, { mode: 0o600 });
    this.#deployed = true;
    await this.#slipway("create-env", ...flags);
  }

  async delete(): Promise<void> {
    await this.#slipway("delete-env");
    this.#deployed = false;
  }

  async #slipway(command: string, ...flags: readonly string[]): Promise<void> {
    const { programs, within = [], signal } = this.#tools;
    signal.throwIfAborted();
    const files = ["--state", join(this.dir, "state.json"), "--vars-store", this.#store];
    const words = [...within, process.execPath, programs.slipway, command, join(this.dir, "env.json")];
    const [program = "", ...args] = [...words, ...files, ...flags];
    await mustRun(systemExec, command, program, args);
  }

  get #store(): string {
    return join(this.dir, "vars.yml");
  }

  get #mbus(): string {
    return `https://mbus:${this.#password}@${this.#ip}:${PORT}`;
  }

  async agent(): Promise<AgentClient> {
    const { programs, clock } = this.#tools;
    const args = [programs.slipway, "interpolate", this.#store, "--path", "/mbus_tls/ca"];
    const { stdout: ca } = await mustRun(systemExec, "reading the certificate", process.execPath, args);
    return new AgentClient({ mbus: this.#mbus, ca, clock });
  }

  /** Ends everything it has started and leaves nothing, whatever state things are in. */
  async close(): Promise<void> {
    try {
      if (this.#deployed) await this.delete().catch(() => undefined);
      await this.#sweep();
    } finally {
      await this.part.close();
      await this.#watch?.end();
      await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  async #sweep(): Promise<void> {
    const { programs, clock } = this.#tools;
    const exec = { path: programs.cpi, configFile: join(this.dir, "cpi.json"), clock };
    const context = { director_uuid: "sweep", vm: { stemcell: { api_version: 2 } } };
    const remove = async (method: string, cid: string) => {
      const request = { method, arguments: [cid], context, api_version: 2 };
      if (!cid.includes(".")) await callCpi({ ...exec, deadlineMs: CALL_DEADLINE_MS }, request);
    };
    for (const vm of await this.part.vms()) await remove("delete_vm", vm);
    for (const disk of await this.part.disks()) await remove("delete_disk", disk);
  }
}
