import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import type { LinuxConfig } from "@slipway/protocol/agent/agent-config";
import type { DiskHint } from "@slipway/protocol/settings/disk-hint";
import { eventually } from "@slipway/testkit/eventually";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { holdMachine } from "@slipway/testkit/hold-machine";
import { type Paths, pathsUnder } from "../../paths.ts";
import type { DiskPlatform, DiskSettings } from "../disks.ts";
import { type LinuxDiskOptions, linuxDisks } from "../linux/disks/linux-disks.ts";
import { recordingLog } from "./recording-log.ts";

const TOOLS = ["losetup", "mke2fs", "mkfs.xfs", "mkfs.vfat", "sfdisk", "partx", "blkid", "mount", "setfattr"];
const DIRECTORIES = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

const hasProgram = (name: string) => DIRECTORIES.some((directory) => existsSync(join(directory, name)));

/** Returns what a suite with real devices lacks on this machine. Empty if it can run, as in CI. */
export function loopsLack(): string {
  const missing = TOOLS.filter((tool) => !hasProgram(tool)).map((tool) => `the program ${tool}`);
  if (process.getuid?.() !== 0) missing.unshift("root");
  if (!existsSync("/dev/loop-control")) missing.unshift("loop devices");
  return missing.join(", ");
}

/** A directory for images and mount points, and real loop devices, all gone after `close`. */
export class LoopLab {
  readonly directory: string;
  readonly paths: Paths;
  readonly log = recordingLog();
  readonly #loops = new Map<string, string>();

  readonly #release: () => Promise<void>;

  private constructor(directory: string, release: () => Promise<void>) {
    this.directory = directory;
    this.#release = release;
    this.paths = pathsUnder(join(directory, "vcap"));
  }

  static async open(): Promise<LoopLab> {
    const release = await holdMachine();
    const lab = new LoopLab(await mkdtemp(join(tmpdir(), "slipway-loop-")), release);
    await mkdir(lab.paths.boshDir, { recursive: true });
    return lab;
  }

  /** Time moves by itself here: waiting for something real costs nothing, and deadlines come. */
  platform(config: LinuxConfig = {}, overrides: Partial<LinuxDiskOptions> = {}): DiskPlatform {
    const clock = fakeClock({ hurry: true });
    return linuxDisks({ config, paths: this.paths, exec: quickExec, clock, log: this.log, ...overrides });
  }

  /**
   * A name that is unique on this machine: loop devices are found by their file's name, and several suites may run at
   * once.
   */
  cid = (name: string): string => `${name}-${basename(this.directory).slice(-6)}`;

  image = (name: string): string => join(this.directory, `${this.cid(name)}.img`);

  async disk(name: string, mib: number, options: readonly string[] = []): Promise<string> {
    await writeFile(this.image(name), "");
    await truncate(this.image(name), mib * 1024 * 1024);
    return this.attach(name, options);
  }

  /** Attaches an image that is there already. */
  async attach(name: string, options: readonly string[] = []): Promise<string> {
    const device = (
      await this.run("losetup", ...options, "--find", "--show", "--nooverlap", this.image(name))
    ).trim();
    this.#loops.set(device, name);
    return device;
  }

  async resize(device: string, mib: number): Promise<void> {
    await truncate(this.image(this.#loops.get(device) ?? ""), mib * 1024 * 1024);
    await this.run("losetup", "-c", device);
  }

  async detach(device: string): Promise<void> {
    await systemExec("partx", ["--delete", device]);
    // The kernel keeps this setting for the next user of the loop device.
    await this.run("blockdev", "--setrw", device);
    await this.run("losetup", "-d", device);
    this.#loops.delete(device);
  }

  async run(program: string, ...args: string[]): Promise<string> {
    const result = await systemExec(program, args);
    if (result.code !== 0) throw new Error(`${program} ${args.join(" ")}: ${result.code} ${result.stderr}`);
    return result.stdout;
  }

  async writeAt(device: string, position: number, bytes: Uint8Array): Promise<void> {
    const handle = await open(device, "r+");
    try {
      await handle.write(bytes, 0, bytes.length, position);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async blkid(device: string, tag: string): Promise<string> {
    return (await systemExec("blkid", ["-p", "-o", "value", "-s", tag, device])).stdout.trim();
  }

  /** Mounts, uses and unmounts a file system, without the code under test. */
  async inside<T>(device: string, use: (directory: string) => Promise<T>): Promise<T> {
    const target = join(this.directory, "inside");
    await mkdir(target, { recursive: true });
    // Busy while a mount namespace that was just made has a read-only copy of the last mount.
    await eventually(`mounting ${device}`, () => this.run("mount", device, target));
    try {
      return await use(target);
    } finally {
      await this.run("umount", target);
    }
  }

  /** Puts something into its file system that is to stay. */
  async mark(device: string): Promise<void> {
    await this.inside(device, (directory) => writeFile(join(directory, "data"), "precious"));
  }

  /** Returns the text that `mark` has written. */
  async marked(device: string): Promise<string> {
    return await this.inside(device, (directory) => readFile(join(directory, "data"), "utf8"));
  }

  /** Returns the digest of a whole image. */
  async digest(name: string): Promise<string> {
    return createHash("sha256")
      .update(await readFile(this.image(name)))
      .digest("hex");
  }

  async close(): Promise<void> {
    const table = await readFile("/proc/self/mountinfo", "utf8");
    const targets = table.split("\n").map((line) => line.split(" ")[4] ?? "");
    for (const target of targets.reverse()) {
      if (target.startsWith(this.directory)) await systemExec("umount", ["--lazy", target]);
    }
    for (const device of [...this.#loops.keys()]) await this.detach(device);
    await rm(this.directory, { recursive: true, force: true });
    await this.#release();
  }
}

/** sfdisk asks a kernel that reads no tables several times, with pauses; partx then tells it anyway. */
export const quickExec: Exec = (program, args, options) =>
  systemExec(
    program,
    program === "sfdisk" && !args.includes("--json") ? ["--no-tell-kernel", ...args] : args,
    options,
  );

export const soon = (): AbortSignal => AbortSignal.abort(new Error("looked once"));

export function diskSettings(cid: string, hint: DiskHint, fileSystem = ""): DiskSettings {
  return { cid, hint, fileSystem, mountOptions: [], partitioner: "" };
}

export const pathHint = (path: string): DiskHint => ({ kind: "text", text: path });

/** A disk that is found by the path of its device. */
export const diskAt = (device: string, fileSystem = ""): DiskSettings =>
  diskSettings("disk-1", pathHint(device), fileSystem);
