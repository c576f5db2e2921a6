import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Paths, pathsUnder } from "@slipway/agent/paths";
import type { TransportCredentials } from "@slipway/agent/transports/transport";
import { replaceFile } from "@slipway/kernel/atomic-file";
import { AgentCaller } from "./agent-caller.ts";
import { AgentProcess } from "./agent-process.ts";
import { AGENT_SERVER, CA } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { Sandbox } from "./sandbox.ts";

export interface MachineOptions {
  readonly bundle: string;
  /** With mounts of its own, for agents that are to mount something. */
  readonly mounts?: boolean;
}

/** Certificates as settings have them. */
export const certOf = ({ certificate, privateKey }: TransportCredentials) => ({
  ca: CA,
  certificate,
  private_key: privateKey,
});

/** VM without its agent: files, mounts, an address. Agents come and go in it, one at a time. */
export class AgentMachine {
  readonly dir: string;
  readonly paths: Paths;
  readonly port: number;
  readonly caller: AgentCaller;
  readonly sandbox: Sandbox | undefined;
  readonly #bundle: string;
  #agent: AgentProcess | undefined;

  private constructor(dir: string, port: number, sandbox: Sandbox | undefined, bundle: string) {
    this.dir = dir;
    this.port = port;
    this.sandbox = sandbox;
    this.#bundle = bundle;
    this.paths = pathsUnder(join(dir, "vcap"));
    this.caller = new AgentCaller(port);
  }

  static async open({ bundle, mounts = false }: MachineOptions): Promise<AgentMachine> {
    const dir = await mkdtemp(join(tmpdir(), "slipway-e2e-"));
    const machine = new AgentMachine(
      dir,
      await freePort(),
      mounts ? await Sandbox.open() : undefined,
      bundle,
    );
    await mkdir(machine.paths.boshDir, { recursive: true });
    const source = { Type: "File", SettingsPath: machine.source };
    await machine.configure({ Infrastructure: { Settings: { Sources: [source] } } });
    await machine.offer(machine.settings());
    return machine;
  }

  /** The agent that runs, or the last one that did. */
  get agent(): AgentProcess | undefined {
    return this.#agent;
  }

  /** File in which the agent looks for its settings. */
  get source(): string {
    return join(this.dir, "user-data.json");
  }

  settings(more: object = {}): Record<string, unknown> {
    return {
      agent_id: "agent-1",
      vm: { name: "vm-1" },
      mbus: `https://mbus:s3cret@127.0.0.1:${this.port}`,
      networks: { private: { type: "manual", ip: "127.0.0.1", netmask: "255.0.0.0", preconfigured: true } },
      disks: { system: "", persistent: {} },
      env: { bosh: { mbus: { cert: certOf(AGENT_SERVER) } } },
      blobstore: { provider: "local", options: { blobstore_path: join(this.paths.base, "blobs") } },
      ...more,
    };
  }

  /** Puts a document where the agent looks for its settings, who may look at any moment. */
  async offer(document: object): Promise<void> {
    await replaceFile(this.source, JSON.stringify(document));
  }

  async configure(config: object): Promise<void> {
    const linux = { Platform: { Linux: { SkipDiskSetup: true } } };
    await writeFile(join(this.dir, "agent.json"), JSON.stringify({ ...linux, ...config }));
  }

  start(): AgentProcess {
    if (this.#agent?.over === false) throw new Error("bug in the test: an agent runs already");
    const config = ["-C", join(this.dir, "agent.json"), "-b", this.paths.base, "-P", "namespace"];
    const command = [process.execPath, this.#bundle, ...config];
    this.#agent = new AgentProcess(this.sandbox?.command(...command) ?? command);
    return this.#agent;
  }

  /** Starts an agent and waits until it serves. */
  async started(): Promise<AgentProcess> {
    const agent = this.start();
    await agent.said(" ready: ");
    return agent;
  }

  async close(): Promise<void> {
    if (this.#agent?.over === false) await this.#agent.kill();
    await this.sandbox?.close();
    await rm(this.dir, { recursive: true, force: true });
  }
}
