import { writeFile } from "node:fs/promises";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentConfig } from "@slipway/protocol/agent/agent-config";
import type { Vitals } from "@slipway/protocol/agent/heartbeat";
import { fakeClock } from "@slipway/testkit/fake-clock";
import type { DiskMount, DiskPlatform } from "../../platform/disks.ts";
import type { Platform } from "../../platform/platform.ts";
import { type AgentEnding, type AgentParts, runAgent } from "../../run-agent.ts";
import { lines, machine, programs, SETTINGS } from "../../settings/testing/settings-lab.ts";
import type {
  AgentTopic,
  RequestHandler,
  Transport,
  TransportCredentials,
} from "../../transports/transport.ts";

export const VITALS: Vitals = {
  cpu: { sys: "0.1", user: "0.2", wait: "0.0" },
  load: ["0.00", "0.00", "0.00"],
  mem: { kb: "1", percent: "1" },
  swap: { kb: "0", percent: "0" },
  uptime: { secs: 9 },
  disk: {},
};

/** A machine in memory. It outlives the agent: `devices` are what the IaaS attached, `mounts` what the kernel knows. */
export class FakeVm {
  readonly devices = new Map<string, string>();
  /** Devices with a file system of ours. */
  readonly formatted = new Set<string>();
  mounts: DiskMount[] = [];
  /** Actions of the platform, in order. */
  readonly done: string[] = [];
  readonly owners = new Map<string, string>();
  /** Called with each action before it is done. Throws if a real one would fail. */
  fail: (deed: string) => void = () => {};

  reboot(): void {
    this.mounts = [];
  }

  #do(deed: string): void {
    this.fail(deed);
    this.done.push(deed);
  }

  readonly disks: DiskPlatform = {
    locate: (disk, signal) =>
      new Promise((resolve, reject) => {
        const device = this.devices.get(disk.cid);
        if (device !== undefined) return resolve(device);
        const tell = () => reject(new Error(`no device for ${disk.cid}: looked in /dev`));
        if (signal.aborted) return tell();
        signal.addEventListener("abort", tell, { once: true });
      }),
    mountSource: async (device) => `${device}1`,
    prepare: async (device) => this.#do(`prepare ${device}`),
    mount: async (source, target, options) => {
      this.#do(`mount ${source} ${target} ${options.join(",")}`.trim());
      this.mounts.push({ source, target, readOnly: false });
    },
    unmount: async (target) => {
      this.#do(`unmount ${target}`);
      this.mounts = this.mounts.filter((mount) => mount.target !== target);
    },
    remountReadOnly: async () => {},
    mounts: async () => this.mounts,
    isInUse: async (device) => this.formatted.has(device),
    copy: async () => {},
    setUpEphemeral: async ({ target }) => this.#do(`ephemeral ${target}`),
    setUpRawEphemeral: async () => {},
    growRoot: async () => this.#do("grow root"),
  };

  readonly platform: Platform = {
    name: "fake",
    disks: this.disks,
    networks: {
      configure: async (networks) => this.#do(`networks ${Object.keys(networks)}`),
      live: async () => ({ ip: "10.0.0.5", netmask: "255.255.255.0", gateway: "10.0.0.1" }),
      deleteArpEntries: async () => {},
    },
    system: {
      setHostname: async (id) => this.#do(`hostname ${id}`),
      writeHosts: async () => this.#do("hosts"),
      setPassword: async (user) => this.#do(`password ${user}`),
      setAuthorizedKeys: async (user, keys) => this.#do(`keys ${user} ${keys.length}`),
      createSshUser: async () => undefined,
      deleteSshUsers: async () => {},
      hostPublicKey: async () => "key",
      setNtp: async (servers) => this.#do(`ntp ${servers.length}`),
      setTrustedCertificates: async () => {},
      chown: async (path, owner) => void this.owners.set(path, owner),
      setLogRotation: async () => false,
      powerOff: async () => {},
      vitals: async () => VITALS,
    },
    layout: {
      systemDirectories: async () => this.#do("system directories"),
      startLogging: async () => this.#do("logging"),
      memory: async ({ runSize, jobs, jobsSize, settings }) =>
        this.#do(`memory ${runSize} ${jobs} ${jobsSize} ${settings}`),
      temporary: async () => this.#do("temporary directories"),
    },
  };
}

export class FakeTransport implements Transport {
  readonly description = "a fake bus";
  readonly published: { topic: AgentTopic; payload: unknown }[] = [];
  handler: RequestHandler | undefined;
  closed = false;
  /** Certificates that were rotated in after the start. */
  readonly certificates: string[] = [];
  async start(handler: RequestHandler): Promise<void> {
    this.handler = handler;
  }
  async publish(topic: AgentTopic, payload: unknown): Promise<void> {
    if (this.closed) throw new Error("closed");
    this.published.push({ topic, payload });
  }
  async rotate({ certificate }: TransportCredentials): Promise<void> {
    if (certificate === "") throw new Error("there is no certificate");
    this.certificates.push(certificate);
  }
  async close(): Promise<void> {
    this.closed = true;
  }
}

/** Returns what a caller gets: the value, the exception's message, or a text if there is no answer. */
export async function ask(
  handler: RequestHandler | undefined,
  method: string,
  ...args: unknown[]
): Promise<unknown> {
  if (handler === undefined) return "nobody listens";
  const handled = await handler(JSON.stringify({ method, arguments: args, protocol: 3 }), "test");
  if (handled.kind === "unreadable") return "no answer";
  return "value" in handled.reply ? handled.reply.value : handled.reply.exception.message;
}

/** An agent on a fake machine with real files and a real settings file. Each `start` is a process. */
export async function agentOn(vm: FakeVm, settings: object = SETTINGS) {
  const { dir, paths } = await machine();
  await writeFile(paths.system("settings.json"), JSON.stringify(settings));
  const log = lines();
  const config: AgentConfig = {
    Infrastructure: { Settings: { Sources: [{ Type: "File", SettingsPath: "/settings.json" }] } },
  };
  const start = (more: Partial<AgentParts> = {}) => {
    const clock = fakeClock();
    const stop = new AbortController();
    const transports: FakeTransport[] = [];
    const ended: Promise<AgentEnding> = runAgent({
      config,
      paths,
      platform: vm.platform,
      actions: { ping: async () => "pong" },
      makeTransport: async () => {
        const transport = new FakeTransport();
        transports.push(transport);
        return transport;
      },
      exec: programs({}).exec,
      clock,
      random: systemRandom,
      log,
      stop: stop.signal,
      ...more,
    });
    ended.catch(() => undefined);
    return {
      clock,
      ended,
      transports,
      ask: (method: string, ...args: unknown[]) => ask(transports.at(-1)?.handler, method, ...args),
      end: async () => {
        stop.abort();
        return await ended;
      },
    };
  };
  return { dir, paths, log, start };
}
