import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { vi } from "vitest";
import { addressOf } from "../engine/address.ts";
import { Engine } from "../engine/engine.ts";

export async function ownEngineTrouble(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root can start an engine";
  const found = await systemExec("which", ["dockerd"]);
  return found.code === 0 ? undefined : "there is no dockerd";
}

/** A process that is killed in the middle of a write may take its time. */
const ENDS = { timeout: 120_000, interval: 50 };

/** A Docker Engine of the test's own, which can be killed. */
export class OwnEngine {
  readonly dir: string;
  readonly #bridge = `sw${systemRandom.hex(4)}`;
  readonly #options: readonly string[];
  #daemon: ChildProcess | undefined;

  private constructor(dir: string, options: readonly string[]) {
    this.dir = dir;
    this.#options = options;
  }

  static async open(options: readonly string[] = []): Promise<OwnEngine> {
    const engine = new OwnEngine(await mkdtemp(join(tmpdir(), "sw-engine-")), options);
    await engine.start();
    return engine;
  }

  get host(): string {
    return `unix://${this.dir}/docker.sock`;
  }

  async start(): Promise<void> {
    const at = (name: string) => join(this.dir, name);
    const log = openSync(at("log"), "a");
    const places = [
      "--data-root",
      at("data"),
      "--exec-root",
      at("exec"),
      "--pidfile",
      at("pid"),
      "-H",
      this.host,
    ];
    // Not `--bridge=none`: that would remove the bridge of this machine's own engine.
    await systemExec("ip", ["link", "add", this.#bridge, "type", "bridge"]);
    await systemExec("ip", ["addr", "add", "10.215.0.1/24", "dev", this.#bridge]);
    const networks = [`--bridge=${this.#bridge}`, "--iptables=false", "--ip6tables=false"];
    const options = [...places, ...networks, ...this.#options];
    this.#daemon = spawn("dockerd", options, { stdio: ["ignore", log, log] });
    const answers = async () => void (await Engine.open(addressOf({ host: this.host })));
    await vi.waitFor(answers, { timeout: 240_000, interval: 100 }).catch((error: unknown) => {
      throw new Error(`no engine: ${readFileSync(at("log"), "utf8").slice(-2000)}`, { cause: error });
    });
  }

  /** The engine alone; its containers go on. */
  async kill(): Promise<void> {
    const daemon = this.#daemon;
    if (daemon === undefined) return;
    this.#daemon = undefined;
    const ended = once(daemon, "exit");
    daemon.kill("SIGKILL");
    await ended;
    await rm(join(this.dir, "pid"), { force: true });
    // Its containerd dies with it, but not at once, and the next engine would wait for the old one.
    const file = join(this.dir, "exec/containerd/containerd.pid");
    const pid = Number(await readFile(file, "utf8").catch(() => "0"));
    if (pid > 1) kill(pid);
    await vi.waitFor(() => {
      if (pid > 1 && isAlive(pid)) throw new Error("containerd still runs");
    }, ENDS);
    await rm(file, { force: true });
  }

  /** Everything at once, as when the host loses its power: nothing of what only memory knows is left. */
  async loseHost(): Promise<void> {
    await this.kill();
    for (const pid of await this.#processes()) kill(pid);
    await vi.waitFor(async () => {
      if ((await this.#processes()).length > 0) throw new Error("something of the engine still runs");
    }, ENDS);
    await this.#unmount();
    await rm(join(this.dir, "exec"), { recursive: true, force: true });
    const { stdout } = await systemExec("losetup", ["--noheadings", "--output", "NAME,BACK-FILE"]);
    const disks = await this.#disks();
    for (const line of stdout.split("\n"))
      if (disks.some((disk) => line.includes(`/${disk}.img`)))
        await systemExec("losetup", ["--detach", line.split(" ")[0] ?? ""]);
  }

  async #disks(): Promise<string[]> {
    const volumes = join(this.dir, "data/volumes");
    const names = await readdir(volumes).catch(() => []);
    const disks = await Promise.all(
      names.map((name) => readdir(join(volumes, name, "_data/disks")).catch(() => [])),
    );
    return disks.flat();
  }

  async close(): Promise<void> {
    await this.loseHost();
    await systemExec("ip", ["link", "del", this.#bridge]);
    // The kernel takes a moment to let go of the last layers.
    for (let turn = 0; turn < 20; turn++) {
      if ((await systemExec("rm", ["-rf", "--one-file-system", this.dir])).code === 0) return;
      await systemClock.sleep(200);
    }
  }

  /** Shims and containers: the shims name our directory, and the containers are their children. */
  async #processes(): Promise<number[]> {
    const parents = new Map<number, number>();
    const ours = new Set<number>();
    for (const name of await readdir("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const line = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
      const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
      const [, state, parent] = /\) (\S) (\d+)/.exec(stat) ?? [];
      if (state === undefined || state === "Z") continue;
      parents.set(Number(name), Number(parent));
      if (line.includes(`${this.dir}/`) && Number(name) !== process.pid) ours.add(Number(name));
    }
    const isOurs = (pid: number): boolean =>
      ours.has(pid) || (parents.has(pid) && pid > 1 && isOurs(parents.get(pid) ?? 0));
    return [...parents.keys()].filter(isOurs);
  }

  async #unmount(): Promise<void> {
    const table = await readFile("/proc/self/mountinfo", "utf8");
    const points = table.split("\n").flatMap((line) => line.split(" ")[4] ?? []);
    for (const point of points.filter((one) => one.startsWith(`${this.dir}/`)).reverse())
      await systemExec("umount", ["--lazy", point]);
  }
}

/** Reports whether a process is alive; one that is dead and not yet reaped is not. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
