import type { Clock } from "@slipway/kernel/clock";
import type { Exec } from "@slipway/kernel/exec";
import type { Random } from "@slipway/kernel/random";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import type { AgentSettings, UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import type { DiskHint } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Log } from "./log.ts";
import type { Paths } from "./paths.ts";
import type { DiskSettings } from "./platform/disks.ts";
import type { Platform } from "./platform/platform.ts";
import type { AgentTopic } from "./transports/transport.ts";

/** Settings as the agent has them now, and the files they are kept in. */
export interface SettingsService {
  current(): AgentSettings;
  updates(): UpdateSettings;
  /** Asks the source again; falls back to the stored settings when it does not answer. */
  reload(signal: AbortSignal): Promise<AgentSettings>;
  /** Stores the settings a Director pushed. Resolves to whether bus or blobstores changed. */
  saveUpdates(updates: UpdateSettings): Promise<{ readonly restart: boolean }>;
  /** A draft's: all persistent disks with their hints, in place of those a Director pushed before. */
  saveDisks(disks: Disks): Promise<void>;
  /** Settings overlaid by the disks and hints that a Director pushed. */
  persistentDisks(): Promise<ReadonlyMap<string, DiskSettings>>;
  addHint(cid: string, hint: DiskHint): Promise<void>;
  removeHint(cid: string): Promise<void>;
  /** How the agent came by its settings, in one line. */
  origin(): string;
}

export interface SpecStore {
  /** Loads the applied spec. Undefined before the first apply. */
  load(): Promise<ApplySpec | undefined>;
  save(spec: ApplySpec): Promise<void>;
}

/** The cid of the disk that a reboot mounts again. */
export interface ManagedDiskStore {
  load(): Promise<string | undefined>;
  save(cid: string): Promise<void>;
  clear(): Promise<void>;
}

/** Source of a blob: the signed URL if there is one, else the blobstore. */
export interface BlobSource {
  readonly blobId: string;
  readonly digest: string;
  readonly signedUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
}

export interface BlobProvider {
  /** Lends a verified copy to `work`. One that was fetched for it is gone afterwards. */
  use<T>(source: BlobSource, signal: AbortSignal, work: (path: string) => Promise<T>): Promise<T>;
  /** Forgets a blob that was uploaded to this VM. The blobstore is the Director's. */
  remove(blobId: string): Promise<void>;
  /** Path of a local copy, verified against the digest; the caller removes nothing. */
  fetch(blobId: string, digest: string, signal: AbortSignal): Promise<string>;
  /** Stores a file and resolves to its blob id and sha1 digest. */
  store(path: string, signal: AbortSignal): Promise<{ readonly blobId: string; readonly digest: string }>;
  /** Writes an uploaded blob: to `blobs` if it came by HTTPS, to `sensitive` if it came by upload_blob. */
  write(kind: "blobs" | "sensitive", blobId: string, content: Uint8Array): Promise<void>;
  read(blobId: string): Promise<Uint8Array | undefined>;
}

export type JobStateName = "running" | "stopped" | "starting" | "failing" | "unknown";

/** One watched process, as get_state shows it. */
export interface ServiceState {
  readonly name: string;
  readonly state: JobStateName;
  readonly uptime?: { readonly secs: number };
  readonly mem?: { readonly kb: number; readonly percent: number };
  readonly cpu?: { readonly total: number };
  /**
   * Reason why the process does not run, with its job and the last lines of its log. Set only if the caller asked for
   * it.
   */
  readonly problem?: string;
}

export interface JobState {
  readonly state: JobStateName;
  readonly processes: readonly ServiceState[];
  /** Requests in the jobs' monit files that the supervisor does not fulfil, each with file and line. */
  readonly warnings?: readonly string[];
}

/** A monit file of a job of the applied spec. */
export interface MonitFile {
  readonly job: string;
  readonly path: string;
}

/** Jobs of the VM. Without jobs, a fresh VM is `running`. */
export interface Supervisor {
  /** `problems`: what is wrong with each process that does not run as well. */
  status(how?: { readonly problems: boolean }): Promise<JobState>;
  /** Watches the services of these files and no others. Starts and stops nothing. */
  watch(files: readonly MonitFile[], signal: AbortSignal): Promise<void>;
  /** Starts all that is watched, in the order of its dependencies, and takes the stopped marker away. */
  start(signal: AbortSignal): Promise<void>;
  /** Stops all that is watched and sets the stopped marker. `wait`: until nothing runs any more (protocol 3). */
  stop(how: { readonly wait: boolean }, signal: AbortSignal): Promise<void>;
  /** Nothing is started again from now on, whatever ends: drain and stop scripts come next. */
  unmonitor(signal: AbortSignal): Promise<void>;
}

/** Everything an action may use. Passed in, so that a test or the simulator owns all of it. */
export interface AgentServices {
  readonly paths: Paths;
  readonly platform: Platform;
  readonly settings: SettingsService;
  readonly spec: SpecStore;
  readonly managedDisk: ManagedDiskStore;
  /** The disk that the last finished migration has filled: a repeat of that one is no mistake. */
  readonly migratedDisk: ManagedDiskStore;
  readonly blobs: BlobProvider;
  readonly supervisor: Supervisor;
  readonly publish: (topic: AgentTopic, payload: unknown) => Promise<void>;
  /**
   * Goes on under the credentials of the bus that the settings have now, without being away for a moment. False when
   * the bus is another one, which takes a restart.
   */
  readonly reconnect: () => Promise<boolean>;
  /** Ends the process after the reply has left; the init system starts it again. */
  readonly restart: (why: string) => void;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
