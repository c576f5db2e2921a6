import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { NatsCredentials } from "@slipway/kernel/nats/dial";
import { expect, onTestFinished } from "vitest";
import { CA, NATS_SERVER } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { temporaryDirectory } from "./temporary.ts";

export const natsServerAvailable = (): boolean => spawnSync("nats-server", ["--version"]).status === 0;

interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** Permissions by common name, as nats-sync writes them for a real deployment. */
export type NatsUsers = Readonly<Record<string, Permissions>>;

export const AGENT_ID = "agent-1";

export const director: NatsUsers = {
  "default.director.bosh-internal": { publish: ["agent.*", "hm.director.alert"], subscribe: ["director.>"] },
};

export const healthMonitor: NatsUsers = {
  "default.hm.bosh-internal": {
    publish: [],
    subscribe: ["hm.agent.heartbeat.*", "hm.agent.alert.*", "hm.agent.shutdown.*", "hm.director.alert"],
  },
};

const agentPermissions: Permissions = {
  publish: [
    ...["heartbeat", "alert", "shutdown"].map((topic) => `hm.agent.${topic}.${AGENT_ID}`),
    `director.*.${AGENT_ID}.*`,
  ],
  subscribe: [`agent.${AGENT_ID}`],
};

export const agent: NatsUsers = { [`${AGENT_ID}.agent.bosh-internal`]: agentPermissions };
export const bootstrapAgent: NatsUsers = { [`${AGENT_ID}.bootstrap.agent.bosh-internal`]: agentPermissions };

export interface NatsServerSetup {
  readonly users?: NatsUsers;
  readonly server?: NatsCredentials;
  /** Authority that signs certificates of clients. */
  readonly clientCa?: string;
  readonly tls?: boolean;
  /** An address of this machine; default loopback's. */
  readonly host?: string;
  /** Further lines of its configuration, such as its limits. */
  readonly more?: string;
  /** Only its port and files are made ready. */
  readonly down?: boolean;
}

/** A real nats-server on a free port of the loopback, gone with the test. */
export class TestNatsServer {
  readonly port: number;
  readonly #directory: string;
  readonly #tls: boolean;
  readonly #host: string;
  readonly #more: string;
  #process: ChildProcess | undefined;
  readonly #log: string[] = [];
  #logged: () => void = () => {};

  private constructor(port: number, directory: string, { tls, host, more }: NatsServerSetup) {
    this.port = port;
    this.#directory = directory;
    this.#tls = tls ?? true;
    this.#host = host ?? "127.0.0.1";
    this.#more = more ?? "";
  }

  static async start(setup: NatsServerSetup = {}): Promise<TestNatsServer> {
    const { path, remove } = await temporaryDirectory();
    const it = new TestNatsServer(await freePort(), path, setup);
    onTestFinished(async () => {
      await it.kill();
      await remove();
    });
    await it.#write({ server: NATS_SERVER, clientCa: CA, ...setup });
    await it.#configure(setup.users ?? { ...director, ...healthMonitor, ...agent });
    if (!setup.down) await it.run();
    return it;
  }

  get url(): string {
    return `nats://${this.#host}:${this.port}`;
  }

  async run(): Promise<void> {
    this.#log.length = 0;
    const started = spawn("nats-server", ["-c", join(this.#directory, "nats.conf")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = started;
    started.once("exit", () => this.#logged());
    createInterface({ input: started.stderr }).on("line", (line) => {
      this.#log.push(line);
      this.#logged();
    });
    await this.#said("Server is ready");
  }

  /** Reloads users and authorities, as nats-sync does when VMs come and go. */
  async reload(users: NatsUsers, files: Pick<NatsServerSetup, "server" | "clientCa"> = {}): Promise<void> {
    await this.#write(files);
    await this.#configure(users);
    this.#log.length = 0;
    this.#process?.kill("SIGHUP");
    await this.#said("Reloaded server configuration");
  }

  /** Stops the server without ending it. Resolves when every thread has stopped: one that runs on may still answer. */
  async freeze(): Promise<void> {
    const pid = this.#process?.pid;
    this.#process?.kill("SIGSTOP");
    const threads = () => readdirSync(`/proc/${pid}/task`);
    const state = (thread: string) =>
      /\) (\S)/.exec(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8"))?.[1];
    await expect.poll(() => threads().every((thread) => state(thread) === "T")).toBe(true);
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    const ending = this.#process;
    this.#process = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, "exit");
    ending.kill("SIGKILL");
    await ended;
  }

  /** Resolves when it has cut somebody off that does not take what it is sent. */
  async cutOff(): Promise<void> {
    await this.#said("Slow Consumer Detected");
  }

  async #said(text: string): Promise<void> {
    while (!this.#log.some((line) => line.includes(text))) {
      if (this.#process?.exitCode !== null) throw new Error(`nats-server ended: ${this.#log.join("\n")}`);
      await new Promise<void>((resolve) => {
        this.#logged = resolve;
      });
    }
  }

  async #write({ server, clientCa }: Pick<NatsServerSetup, "server" | "clientCa">): Promise<void> {
    const at = (name: string) => join(this.#directory, name);
    if (clientCa !== undefined) await writeFile(at("ca.pem"), clientCa);
    if (server === undefined) return;
    await writeFile(at("server.pem"), server.certificate);
    await writeFile(at("server.key"), server.privateKey, { mode: 0o600 });
  }

  async #configure(users: NatsUsers): Promise<void> {
    const path = (name: string) => JSON.stringify(join(this.#directory, name));
    const tls = `tls { cert_file: ${path("server.pem")}, key_file: ${path("server.key")},
  ca_file: ${path("ca.pem")}, verify_and_map: true, timeout: 5 }`;
    const entries = Object.entries(users).map(
      ([name, permissions]) =>
        `{ user: ${JSON.stringify(`C=USA, O=Cloud Foundry, CN=${name}`)}, permissions: ${JSON.stringify(permissions)} }`,
    );
    const authorization = `authorization { users: [${entries.join(",\n")}] }`;
    await writeFile(
      join(this.#directory, "nats.conf"),
      `listen: "${this.#host}:${this.port}"\n${this.#more}\n${this.#tls ? `${tls}\n${authorization}` : ""}\n`,
    );
  }
}
