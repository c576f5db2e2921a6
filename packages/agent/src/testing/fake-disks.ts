import type { DiskMount, DiskPlatform, DiskSettings } from "../platform/disks.ts";

interface FakeDisk {
  formatted: boolean;
  readonly files: Map<string, string>;
}

/** Thrown where a test kills the agent: after a step was done, before it was reported. */
export class Killed extends Error {}

/** Ends when the time is up and, as on real machines, a moment later, which real code takes to collect the cause. */
async function gaveUp(signal: AbortSignal, why: string): Promise<never> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await new Promise(setImmediate);
  throw new Error(why);
}

/**
 * Fake disks: devices with files, mounts, and a kill after any chosen step. Mounts survive the agent, as they do
 * when only the process dies; `reboot` loses them.
 */
export class FakeDisks implements DiskPlatform {
  readonly devices = new Map<string, FakeDisk>();
  mountTable: DiskMount[] = [];
  readonly steps: string[] = [];
  killAfter = Number.POSITIVE_INFINITY;
  /** Holder of each busy mount point, which keeps it from being unmounted. */
  readonly holders = new Map<string, string>();

  /** A device named like the disk, as the hint of the test says. */
  plug(cid: string, files: Readonly<Record<string, string>> = {}): void {
    const formatted = Object.keys(files).length > 0;
    this.devices.set(`/dev/${cid}`, { formatted, files: new Map(Object.entries(files)) });
  }

  reboot(): void {
    this.mountTable = [];
  }

  filesAt(target: string): Readonly<Record<string, string>> | undefined {
    const mount = this.mountTable.findLast((one) => one.target === target);
    const disk = mount === undefined ? undefined : this.devices.get(mount.source);
    return disk === undefined ? undefined : Object.fromEntries(disk.files);
  }

  #done(step: string): void {
    this.steps.push(step);
    if (this.steps.length >= this.killAfter) throw new Killed(step);
  }

  async locate(disk: DiskSettings, signal: AbortSignal): Promise<string> {
    const device = `/dev/${disk.cid}`;
    if (this.devices.has(device)) return device;
    return await gaveUp(signal, `no device for disk ${disk.cid}; tried: ${device}`);
  }

  async mountSource(device: string): Promise<string> {
    return device;
  }

  async prepare(device: string): Promise<void> {
    const disk = this.#disk(device);
    if (!disk.formatted) disk.formatted = true;
    this.#done(`prepare ${device}`);
  }

  async mount(source: string, target: string, options: readonly string[]): Promise<void> {
    if (!this.#disk(source).formatted) throw new Error(`${source} has no file system`);
    this.mountTable.push({ source, target, readOnly: options.includes("ro") });
    this.#done(`mount ${source} ${target}`);
  }

  async unmount(target: string, signal: AbortSignal): Promise<void> {
    const holder = this.holders.get(target);
    if (holder !== undefined) await gaveUp(signal, `${target} is in use; held by: ${holder}`);
    const at = this.mountTable.findLastIndex((mount) => mount.target === target);
    if (at === -1) throw new Error(`${target} is not mounted`);
    this.mountTable.splice(at, 1);
    this.#done(`unmount ${target}`);
  }

  async remountReadOnly(target: string): Promise<void> {
    this.mountTable = this.mountTable.map((mount) =>
      mount.target === target ? { ...mount, readOnly: true } : mount,
    );
    this.#done(`read-only ${target}`);
  }

  async mounts(): Promise<readonly DiskMount[]> {
    return [...this.mountTable];
  }

  async isInUse(device: string): Promise<boolean> {
    return this.#disk(device).formatted;
  }

  /** Killed in the middle, half of the files are there. */
  async copy(from: string, to: string): Promise<void> {
    const source = this.#mounted(from);
    const target = this.#mounted(to);
    target.files.clear();
    for (const [name, content] of source.files) {
      target.files.set(name, content);
      this.#done(`copy ${name}`);
    }
  }

  async setUpEphemeral(): Promise<void> {}
  async setUpRawEphemeral(): Promise<void> {}
  async growRoot(): Promise<void> {}

  #disk(device: string): FakeDisk {
    const disk = this.devices.get(device);
    if (disk === undefined) throw new Error(`no device ${device}`);
    return disk;
  }

  #mounted(target: string): FakeDisk {
    const mount = this.mountTable.findLast((one) => one.target === target);
    if (mount === undefined) throw new Error(`${target} is not mounted`);
    return this.#disk(mount.source);
  }
}
