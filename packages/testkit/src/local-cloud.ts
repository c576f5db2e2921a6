import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpiLocal } from "@slipway/cpi-local/cpi-local";
import { loopTrouble } from "@slipway/cpi-local/disks/kind";
import { openCloud } from "@slipway/cpi-local/local-cloud";
import { keeperOf } from "@slipway/cpi-local/namespaces";
import { probe } from "@slipway/cpi-local/probe";
import { embed } from "@slipway/cpi-sdk/embed";
import { systemExec } from "@slipway/kernel/exec";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { addressOctet } from "./address-octet.ts";
import { CpiUnderTest } from "./cpi-under-test.ts";
import { eventually } from "./eventually.ts";
import { holdMachine } from "./hold-machine.ts";

export const isRoot = process.getuid?.() === 0;

/**
 * Stands for the agent: says that it runs, and ends with the code that a file tells it. Says how often it was started.
 */
const AGENT = `
const fs = require("node:fs");
const base = process.argv[process.argv.indexOf("-b") + 1];
fs.appendFileSync(base + "/starts", process.pid + "\\n");
setInterval(() => {
  if (!fs.existsSync(base + "/end-with")) return;
  const code = Number(fs.readFileSync(base + "/end-with", "utf8"));
  fs.unlinkSync(base + "/end-with");
  process.exit(code);
}, 10);
`;

let lastAddress = 0;
/** Returns an address that no other test of this machine uses at the same time. */
export const nextAddress = (): string => `127.110.${addressOctet()}.${(++lastAddress % 250) + 2}`;

export async function sandboxTrouble(): Promise<string | undefined> {
  const seen = await probe();
  return seen.ok ? undefined : seen.why;
}

/** Why disks of the kind loop cannot be tried here. */
export async function loopDisksTrouble(): Promise<string | undefined> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-loop-"));
  const release = await holdMachine();
  try {
    return await loopTrouble(await openCloud({ dir, agent: "/none" }));
  } finally {
    await release();
    await rm(dir, { recursive: true, force: true });
  }
}

export interface LocalOptions {
  readonly disks?: "auto" | "directory" | "loop";
  readonly agent?: string;
  readonly hide?: string[];
  readonly share?: string[];
  /** Parent of the cloud's directory. */
  readonly below?: string;
}

/** A directory of the test's own with the CPI on it. */
export class LocalCloud extends CpiUnderTest {
  readonly dir: string;
  readonly config: {
    dir: string;
    agent: string;
    disks: "auto" | "directory" | "loop";
    hide: string[];
    share: string[];
  };

  private constructor(dir: string, { disks = "auto", agent, hide = [], share = [] }: LocalOptions) {
    super("d");
    this.dir = dir;
    this.config = { dir, agent: agent ?? join(dir, "agent.cjs"), disks, hide, share };
  }

  static async open(options: LocalOptions = {}): Promise<LocalCloud> {
    const cloud = new LocalCloud(await mkdtemp(join(options.below ?? tmpdir(), "slipway-local-")), options);
    await writeFile(join(cloud.dir, "agent.cjs"), AGENT);
    return cloud;
  }

  async close(): Promise<void> {
    const vms = await readdir(join(this.dir, "vms")).catch(() => []);
    for (const vm of vms) await this.ask("delete_vm", [vm.replace(/\..*/, "")]);
    for (const disk of await readdir(join(this.dir, "disks")).catch(() => []))
      await this.ask("delete_disk", [disk]);
    await rm(this.dir, { recursive: true, force: true });
  }

  /** One call of the CPI in this process; `through` may put something in between. */
  through: (request: unknown) => Promise<CpiResponse> = (request) =>
    embed(cpiLocal, { config: { local: this.config } }).request(request);

  async ask(method: string, args: readonly unknown[], requestId?: string): Promise<CpiResponse> {
    const starts = ["create_vm", "reboot_vm"].includes(method);
    const release = starts ? await holdMachine() : async () => {};
    try {
      return await this.through(this.request(method, args, requestId));
    } finally {
      await release();
    }
  }

  async newStemcell(image = "", properties: Record<string, unknown> = {}): Promise<string> {
    const file = join(this.dir, `image-${this.next()}`);
    await writeFile(file, image);
    const cid = await this.result<string>("create_stemcell", [file, properties]);
    await rm(file);
    return cid;
  }

  vmArguments(stemcell: string, ip = nextAddress()): unknown[] {
    const network = { type: "manual", ip, netmask: "255.255.255.0", gateway: "127.110.0.1" };
    return [`agent-${this.next()}`, stemcell, {}, { private: network }, [], {}];
  }

  async newVm(ip?: string): Promise<string> {
    const args = this.vmArguments(await this.newStemcell(), ip);
    const [cid] = await this.result<[string]>("create_vm", args);
    await this.agentStarts(cid, 1);
    return cid;
  }

  async newDisk(size = 16): Promise<string> {
    return await this.result<string>("create_disk", [size, {}, null]);
  }

  vm(cid: string, ...path: string[]): string {
    return join(this.dir, "vms", cid, ...path);
  }

  pid(cid: string): number {
    return Number(readFileSync(this.vm(cid, "pid"), "utf8"));
  }

  starts(cid: string): number {
    try {
      return readFileSync(this.vm(cid, "vcap", "starts"), "utf8")
        .trim()
        .split("\n").length;
    } catch {
      return 0;
    }
  }

  async agentStarts(cid: string, times: number): Promise<void> {
    await eventually(`start ${times} of the agent of ${cid}`, () => this.starts(cid) >= times || undefined);
  }

  /** Ends the agent's process with this code, as it would do itself. */
  async agentEnds(cid: string, code: number): Promise<void> {
    const file = this.vm(cid, "vcap", "end-with");
    await writeFile(`${file}.new`, String(code));
    execFileSync("mv", [`${file}.new`, file]);
  }

  /** Runs a shell text in the sandbox, as its root. */
  async inside(cid: string, script: string): Promise<{ code: number; stdout: string; stderr: string }> {
    const pid = this.pid(cid);
    const user = (of: number | "self") => readlinkSync(`/proc/${of}/ns/user`);
    // Where root may not make user namespaces, its sandboxes have none.
    const apart = user(pid) === user("self") ? [] : ["--user"];
    const into = ["--target", String(pid), ...apart, "--mount", "--pid"];
    if (isRoot) return await systemExec("nsenter", [...into, "--net", "--", "/bin/sh", "-c", script]);
    // By way of the user namespace that has a say in its processes.
    const outer = ["--target", String(keeperOf(pid)?.pid), "--user", "--preserve-credentials", "--"];
    return await systemExec("nsenter", [
      ...outer,
      "nsenter",
      ...into,
      "--preserve-credentials",
      "--",
      "/bin/sh",
      "-c",
      script,
    ]);
  }

  async insideMust(cid: string, script: string): Promise<string> {
    const { code, stdout, stderr } = await this.inside(cid, script);
    if (code !== 0) throw new Error(`${script}: ${code} ${stderr}`);
    return stdout;
  }

  /** Whatever of this directory is left outside of its files: processes, mounts, loop devices. */
  async traces(): Promise<string[]> {
    const found: string[] = [];
    for (const name of await readdir("/proc")) {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
      const line = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
      if (line.split("\0").some((word) => word.startsWith(join(this.dir, "vms"))))
        found.push(`process ${name}`);
    }
    const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
    found.push(...mounts.filter((line) => line.includes(this.dir)));
    const loops = await systemExec("losetup", ["--noheadings", "--output", "NAME,BACK-FILE"]);
    found.push(...loops.stdout.split("\n").filter((line) => line.includes(this.dir)));
    return found;
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};
