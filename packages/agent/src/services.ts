import type { Clock } from "@slipway/kernel/clock";
import type { Exec } from "@slipway/kernel/exec";
import type { Random } from "@slipway/kernel/random";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import type { AgentSettings, UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import type { DiskHint } from "@slipway/protocol/settings/disk-hint";
import type { Log } from "./log.ts";
import type { Paths } from "./paths.ts";
import type { DiskSettings } from "./platform/disks.ts";
import type { Platform } from "./platform/platform.ts";
import type { Topic } from "./transports/transport.ts";

/** Settings as the agent has them now, and the files they are kept in. */
export interface SettingsService {
  current(): AgentSettings;
  updates(): UpdateSettings;
  /** Asks the source again; falls back to the stored settings when it does not answer. */
  reload(signal: AbortSignal): Promise<AgentSettings>;
  /** Stores the settings a Director pushed. Resolves to whether bus or blobstores changed. */
  saveUpdates(updates: UpdateSettings): Promise<{ readonly restart: boolean }>;
  /** Settings overlaid by the stored hints. */
  persistentDisks(): Promise<ReadonlyMap<string, DiskSettings>>;
  addHint(cid: string, hint: DiskHint): Promise<void>;
  removeHint(cid: string): Promise<void>;
  /** How the agent came by its settings, in one line. */
  origin(): string;
}

export interface SpecStore {
  /** Undefined before the first apply. */
  load(): Promise<ApplySpec | undefined>;
  save(spec: ApplySpec): Promise<void>;
}

/** The cid of the disk that a reboot mounts again. */
export interface ManagedDiskStore {
  load(): Promise<string | undefined>;
  save(cid: string): Promise<void>;
  clear(): Promise<void>;
}

export interface Blobs {
  /** Path of a local copy, verified against the digest; the caller removes nothing. */
  fetch(blobId: string, digest: string, signal: AbortSignal): Promise<string>;
  /** Stores a file and resolves to its blob id and sha1 digest. */
  store(path: string, signal: AbortSignal): Promise<{ readonly blobId: string; readonly digest: string }>;
  /** Where an uploaded blob is put: `blobs` by HTTPS, `sensitive` by upload_blob. */
  write(kind: "blobs" | "sensitive", blobId: string, content: Uint8Array): Promise<void>;
  read(blobId: string): Promise<Uint8Array | undefined>;
}

export interface JobState {
  readonly state: "running" | "stopped" | "starting" | "failing" | "unknown";
  readonly processes: readonly unknown[];
}

/** Jobs of the VM. Without jobs, a fresh VM is `running`. */
export interface Supervisor {
  status(): Promise<JobState>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Everything an action may use. Passed in, so that a test or the simulator owns all of it. */
export interface Services {
  readonly paths: Paths;
  readonly platform: Platform;
  readonly settings: SettingsService;
  readonly spec: SpecStore;
  readonly managedDisk: ManagedDiskStore;
  readonly blobs: Blobs;
  readonly supervisor: Supervisor;
  readonly publish: (topic: Topic, payload: unknown) => Promise<void>;
  /** Ends the process after the reply has left; the init system starts it again. */
  readonly restart: (why: string) => void;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
