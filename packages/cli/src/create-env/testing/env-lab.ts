import { existsSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent } from "@slipway/engine/agents/agent";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { addressOctet } from "@slipway/testkit/address-octet";
import { passableDirectory } from "@slipway/testkit/temporary";
import { onTestFinished } from "vitest";
import { AllProxy } from "../../proxy/all-proxy.ts";
import { buildLocalStemcell } from "../../stemcells/build-local.ts";
import type { Ui } from "../../ui/ui.ts";
import { busOf, mbusIn } from "../agents/bus.ts";
import { openAgents } from "../agents/mbus-agents.ts";
import { createEnv } from "../create.ts";
import { deleteEnv } from "../delete.ts";
import { readEnvManifest } from "../manifest/read.ts";
import { powerEnv } from "../power.ts";
import { processesWith } from "../registry/find-process.ts";
import type { EnvTools } from "../session.ts";
import type { StateDocument } from "../state/document.ts";
import type { Built } from "./programs.ts";

/** Addresses of this suite: 127.150.x.x. */
let taken = 10;
const nextAddress = () => `127.150.${addressOctet()}.${taken++}`;

export interface ManifestChange {
  readonly disk?: number | null;
  readonly diskProperties?: object;
  readonly stemcell?: string;
  readonly env?: object;
  readonly tags?: object;
  readonly provider?: object;
}

/** A directory with a manifest, stemcells, and whatever create-env makes in it. */
export class EnvLab {
  readonly dir: string;
  readonly ip: string;
  readonly lines: string[] = [];
  /** The operator's environment variables. */
  readonly env: Record<string, string> = {};
  readonly #programs: Built;

  private constructor(dir: string, ip: string, programs: Built) {
    this.dir = dir;
    this.ip = ip;
    this.#programs = programs;
  }

  static async open(programs: Built): Promise<EnvLab> {
    const dir = await passableDirectory("env");
    const lab = new EnvLab(dir, nextAddress(), programs);
    onTestFinished(() => lab.close());
    return lab;
  }

  get state(): string {
    return join(this.dir, "lab-state.json");
  }

  get workspace(): string {
    return join(this.dir, "lab-state.slipway");
  }

  /** Directory of sandboxes and disks, however the CPI is run. */
  get cloud(): string {
    return join(this.dir, "cloud");
  }

  async document(): Promise<StateDocument> {
    return JSON.parse(await readFile(this.state, "utf8")) as StateDocument;
  }

  manifest(change: ManifestChange = {}): Record<string, unknown> {
    const { disk = 64, diskProperties = {}, stemcell = "stemcell.tgz", env = {}, tags = {} } = change;
    return {
      name: "lab",
      resource_pools: [
        {
          name: "vms",
          network: "default",
          stemcell: { url: `file://${stemcell}` },
          cloud_properties: {},
          env,
        },
      ],
      ...(disk !== null && {
        disk_pools: [{ name: "disks", disk_size: disk, cloud_properties: diskProperties }],
      }),
      networks: [
        {
          name: "default",
          type: "manual",
          subnets: [{ range: "127.150.0.0/16", gateway: "127.150.0.1", dns: [] }],
        },
      ],
      instance_groups: [
        {
          name: "bosh",
          instances: 1,
          jobs: [],
          resource_pool: "vms",
          ...(disk !== null && { persistent_disk_pool: "disks" }),
          networks: [{ name: "default", static_ips: [this.ip] }],
        },
      ],
      cloud_provider: change.provider ?? this.embedded(),
      tags,
    };
  }

  embedded(properties: object = {}): object {
    return { cpi: { package: "local", properties: { dir: this.cloud, ...properties } } };
  }

  /** The CPI's executable; `apiVersion` is the highest it says it knows. */
  async executable(apiVersion?: number): Promise<object> {
    const local = { dir: this.cloud, agent: this.#programs.agent };
    const file = join(this.dir, "cpi.json");
    await writeFile(file, JSON.stringify({ cloud: { properties: { local } } }));
    const debug = apiVersion === undefined ? {} : { debug: { cpi: { api_version: apiVersion } } };
    return { cpi: { exec_path: this.#programs.cpi, config_file: "cpi.json", properties: debug } };
  }

  async stemcell(
    name = "stemcell.tgz",
    given: { version?: string; apiVersion?: number } = {},
  ): Promise<void> {
    await buildLocalStemcell({ to: join(this.dir, name), ...given, clock: systemClock });
  }

  async create(
    document: unknown,
    flags: { recreate?: boolean; recreateDisks?: boolean; stop?: AbortSignal } = {},
  ): Promise<string> {
    const from = this.lines.length;
    await createEnv(
      {
        manifestPath: join(this.dir, "lab.yml"),
        document,
        statePath: undefined,
        skipDrain: false,
        recreate: flags.recreate ?? false,
        recreateDisks: flags.recreateDisks ?? false,
      },
      { ...this.tools(), ...(flags.stop && { stop: flags.stop }) },
    );
    return this.lines.slice(from).join("\n");
  }

  async delete(document: unknown): Promise<string> {
    const from = this.lines.length;
    const manifestPath = join(this.dir, "lab.yml");
    await deleteEnv({ manifestPath, document, statePath: undefined, skipDrain: false }, this.tools());
    return this.lines.slice(from).join("\n");
  }

  async power(to: "stopped" | "started", document: unknown): Promise<string> {
    const from = this.lines.length;
    const manifestPath = join(this.dir, "lab.yml");
    await powerEnv(to, { manifestPath, document, statePath: undefined, skipDrain: false }, this.tools());
    return this.lines.slice(from).join("\n");
  }

  tools(): EnvTools {
    const say = (text: string) => void this.lines.push(text);
    const ui: Pick<Ui, "line" | "note" | "progress"> = {
      line: say,
      note: say,
      progress: () => ({
        update: () => undefined,
        done: (text = "") => say(text),
        failed: (text = "") => say(text),
      }),
    };
    return {
      ui: ui as Ui,
      clock: systemClock,
      random: systemRandom,
      env: this.env,
      programs: {
        self: [process.execPath, this.#programs.slipway],
        demo: { release: "", manifest: "" },
        ...this.#programs,
      },
      stop: new AbortController().signal,
      proxy: new AllProxy({ env: this.env, clock: systemClock, random: systemRandom }),
    };
  }

  /** Lists the VMs in the cloud. */
  async vms(): Promise<readonly string[]> {
    return await namesIn(join(this.cloud, "vms"));
  }

  async disks(): Promise<readonly string[]> {
    return await namesIn(join(this.cloud, "disks"));
  }

  async stemcells(): Promise<readonly string[]> {
    return await namesIn(join(this.cloud, "stemcells"));
  }

  /** Processes that name anything in this directory. */
  async processes(): Promise<readonly number[]> {
    const found: number[] = [];
    for (const name of (await readdir("/proc")).filter((one) => /^\d+$/.test(one))) {
      const line = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
      if (line.includes(`${this.dir}/`)) found.push(Number(name));
    }
    return found;
  }

  registries(): Promise<readonly number[]> {
    return processesWith(join(this.workspace, "registry", "config.json"));
  }

  /** A file on the persistent disk, through the agent. */
  async write(name: string, text: string, document: unknown = this.manifest()): Promise<void> {
    await this.#withAgent(document, (agent) => agent.writeStoreFile(name, text));
  }

  async read(name: string, document: unknown = this.manifest()): Promise<string> {
    return await this.#withAgent(document, (agent) => agent.readStoreFile(name));
  }

  async #withAgent<T>(document: unknown, ask: (agent: Agent) => Promise<T>): Promise<T> {
    const { env, cloudProvider } = readEnvManifest({ path: "lab.yml", dir: this.dir, value: document });
    const state = await this.document();
    const agents = await openAgents({
      bus: busOf(cloudProvider, env),
      mbus: mbusIn(env),
      keysDir: join(this.workspace, "keys"),
      directorUuid: state.director_id,
      clock: systemClock,
      random: systemRandom,
      warn: () => undefined,
    });
    const vm = state.slipway.instance?.vms.find(({ active }) => active);
    if (vm === undefined) throw new Error("there is no VM");
    try {
      return await ask(agents.agent(vm));
    } finally {
      agents.close();
    }
  }

  /** Lists mounts, and loop devices on files, that the kernel still has under the directory. */
  async held(): Promise<readonly string[]> {
    const ours = (text: string) => text.split("\n").filter((line) => line.includes(`${this.dir}/`));
    const loops = await systemExec("losetup", ["--list", "--noheadings", "--output", "BACK-FILE"]);
    return [...ours(await readFile("/proc/self/mountinfo", "utf8")), ...ours(loops.stdout)];
  }

  async close(): Promise<void> {
    for (const pid of await this.processes()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
    // A failed test may have left what the CPI would have taken down.
    for (const line of await this.held()) {
      const [, , , , target = ""] = line.split(" ");
      if (target.startsWith(`${this.dir}/`)) await systemExec("umount", ["-l", target]);
    }
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  exists(name: string): boolean {
    return existsSync(join(this.dir, name));
  }
}

const namesIn = (path: string): Promise<string[]> => readdir(path).catch(() => []);
