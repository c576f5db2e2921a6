import type { DiskHint } from "@slipway/protocol/settings/disk-hint";

/** A persistent disk as settings and hints describe it. */
export interface DiskSettings {
  readonly cid: string;
  readonly hint: DiskHint;
  /** `""` means ext4. */
  readonly fileSystem: string;
  readonly mountOptions: readonly string[];
  readonly partitioner: string;
}

export interface DiskMount {
  /** Device, or directory for bind mounts. */
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/**
 * Disks as one kind of machine has them. Everything is safe to repeat. What to mount where is decided by the actions;
 * how, by the platform.
 */
export interface DiskPlatform {
  /**
   * The device of a disk, by proof: something that names this disk or this slot must lead to it. Waits for it until
   * the signal aborts; then the error says what was tried.
   */
  locate(disk: DiskSettings, signal: AbortSignal): Promise<string>;
  /** Returns the source to mount for a located device: its first partition, or the device itself. */
  mountSource(device: string): Promise<string>;
  /**
   * Makes a located device ready to be mounted: partition and file system if it is certainly empty, grown if it has
   * room. Refuses a device that holds anything unexpected.
   */
  prepare(device: string, disk: DiskSettings): Promise<void>;
  mount(source: string, target: string, options: readonly string[]): Promise<void>;
  /** Unmounts, waiting for a busy one until the signal aborts. */
  unmount(target: string, signal: AbortSignal): Promise<void>;
  remountReadOnly(target: string): Promise<void>;
  mounts(): Promise<readonly DiskMount[]>;
  /** Returns true if the device has a partition table or file system of ours, so that a reboot may mount it again. */
  isInUse(device: string): Promise<boolean>;
  /** Copies everything, attributes included, and compares; throws if the copy is not equal. */
  copy(from: string, to: string): Promise<void>;
  /**
   * Sets up `/var/vcap/data` on the ephemeral disk, with swap, or as a directory if there is no disk and none is
   * required.
   */
  setUpEphemeral(request: EphemeralRequest): Promise<void>;
  setUpRawEphemeral(devices: readonly DiskHint[]): Promise<void>;
  /** Gives the root file system the room that is free behind it. Not being able to is no failure. */
  growRoot(): Promise<void>;
}

export interface EphemeralRequest {
  readonly hint: DiskHint | undefined;
  readonly target: string;
  /** MiB; undefined: the smaller of RAM and half the disk; 0: none. */
  readonly swapMib: number | undefined;
  readonly agentId: string;
  /** Ends the waiting for its device; work on the device goes on. */
  readonly signal: AbortSignal;
}
