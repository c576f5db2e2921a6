import type { StartOptions } from "@slipway/director/start/director";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Choice } from "../home/choice.ts";
import type { Tools } from "../tools.ts";
import type { Words } from "./words.ts";

export interface VmState {
  readonly cid: string;
  readonly running: boolean;
}

/** What there is of a home's VMs and disks. */
export interface Seen {
  readonly vms: readonly VmState[];
  /** Undefined where it cannot be known now. */
  readonly disks: number | undefined;
  /** Why nothing can be known. */
  readonly trouble?: string;
}

/** What depends on the CPI a home has. */
export interface Backend {
  readonly words: Words;
  /** Its VMs run on when the Director stops. */
  readonly outlives: boolean;
  /** Where they run, unless it is this machine alone. */
  readonly engine: string | undefined;
  /** Where state and disks are when nothing runs, as a sentence. */
  readonly kept: string;
  /** Commands that remove what a home leaves elsewhere. */
  readonly leftovers: readonly string[];
  /** Looks, and changes nothing. */
  look(): Promise<Seen>;
  /** The Director's configuration, with what VMs of this kind need. What it says already is kept. */
  configure(config: DirectorConfig): Promise<DirectorConfig>;
  /** The CPI, for the Director's process. */
  embedded(): Promise<NonNullable<StartOptions["embeddedCpi"]>>;
  /** Starts VMs that were stopped with their Director. */
  startVms(): Promise<void>;
  /** Stops VMs that do not outlive their Director. Their disks and files are kept. */
  stopVms(): Promise<void>;
}

export type BackendTools = Pick<Tools, "home" | "programs" | "clock" | "ui">;

export async function backendOf(choice: Choice, tools: BackendTools): Promise<Backend> {
  if (choice.cpi === "local") return (await import("./sandboxes.ts")).localBackend(tools);
  return (await import("./docker.ts")).dockerBackend(choice, tools);
}
