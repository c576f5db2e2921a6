import type { Clock } from "@slipway/kernel/clock";
import type { Exec } from "@slipway/kernel/exec";
import type { Log } from "../../log.ts";
import type { Paths } from "../../paths.ts";

/** One place where settings may be. A call is one attempt; how often and how long is decided by who asks. */
export interface SettingsReader {
  /** Kind and place of the source, without credentials. Operators read it. */
  readonly name: string;
  /** The document as text. */
  read(signal: AbortSignal): Promise<string>;
  /** Under which name a registry keeps this VM's settings. */
  instanceId?(signal: AbortSignal): Promise<string | undefined>;
  /** The SSH key the IaaS was given for this VM. */
  sshKey?(signal: AbortSignal): Promise<string | undefined>;
}

export interface SourceTools {
  readonly paths: Paths;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Log;
  /** Brings some interface up when none is, for sources that are reached over the network. */
  readonly ensureNetwork?: (signal: AbortSignal) => Promise<void>;
  /** How long one HTTP answer may take. */
  readonly attemptTimeoutMs?: number;
}

/** Far above any real document; a source that sends more does not send settings. */
export const LARGEST_DOCUMENT = 16 << 20;
