import type { StartOptions } from "@slipway/director/start/director";
import type { Random } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type * as v from "valibot";
import type { Option } from "../command.ts";
import type { Tools } from "../tools.ts";

/** Data about a CPI, tagged with its name. */
export interface OfCpi {
  readonly cpi: string;
}

/** CPI of a home, with what that CPI needs to find its VMs again. Decided by the first `up`, and remembered. */
export type ChosenCpi = OfCpi;
/** CPI that was asked for or remembered, before anything was looked at. */
export type Selection = OfCpi;
/** CPI that was found to work here. */
export type PreparedCpi = OfCpi;

/** Options and environment with which the user chose a CPI. */
export interface AskedCpi {
  readonly cpi: string | undefined;
  /** Values of the options that belong to single CPIs, by name without dashes. */
  readonly options: Readonly<Record<string, string>>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Words for VMs of this kind in messages. */
export interface VmWords {
  readonly one: string;
  readonly many: string;
  readonly title: string;
  /** Says what Ctrl-C does while `up` is in the foreground. */
  readonly interrupted: string;
  /** Shown by the demo while it stops. */
  readonly stopping: string;
  /** Says what a killed Director has left, and what becomes of it. */
  readonly left: string;
}

export const counted = (number: number, { one, many }: VmWords): string =>
  `${number} ${number === 1 ? one : many}`;

/** Addresses that the demo may give to VMs: 24 bits of a network. */
export interface DemoRange {
  /** Used unless the user names another: the first one that is free. */
  readonly usual: readonly [string, ...string[]];
  /** Kind of addresses, as the object of a sentence. */
  readonly takes: string;
  readonly example: string;
  readonly fits: RegExp;
}

export interface VmState {
  readonly cid: string;
  readonly running: boolean;
}

/** VMs and disks that a home has. */
export interface HomeState {
  readonly vms: readonly VmState[];
  /** Undefined if it cannot be known now. */
  readonly disks: number | undefined;
  /** Why nothing can be known. */
  readonly trouble?: string;
}

/** The CPI of one home, at work. */
export interface Backend {
  readonly words: VmWords;
  /** True if its VMs run on when the Director stops. */
  readonly outlives: boolean;
  /** Address of the machine with the VMs, unless it is this one. */
  readonly engine: string | undefined;
  /** Says where state and disks are when nothing runs, as a sentence. */
  readonly kept: string;
  /** Commands that remove what a home leaves elsewhere. */
  readonly leftovers: readonly string[];
  /** Looks, and changes nothing. */
  look(): Promise<HomeState>;
  /** Returns the Director's configuration with what VMs of this kind need. Keys that are set already are kept. */
  configure(config: DirectorConfig): Promise<DirectorConfig>;
  /** Opens the CPI for the Director's process. */
  embedded(): Promise<NonNullable<StartOptions["embeddedCpi"]>>;
  /** Starts VMs that were stopped with their Director. */
  startVms(): Promise<void>;
  /** Stops VMs that do not outlive their Director. Their disks and files are kept. */
  stopVms(): Promise<void>;
}

export type BackendTools = Pick<Tools, "home" | "programs" | "clock" | "ui">;
export type StageTools = Pick<Tools, "clock" | "programs">;

export interface StemcellName {
  readonly name: string;
  readonly version: string;
}

/** The stemcell the demo deploys. */
export interface DemoStemcell {
  readonly doing: string;
  /** Description that follows its name. */
  readonly about: string;
  id(): Promise<StemcellName>;
  /** Returns its archive in the directory; `done` removes one that was made for this. */
  archive(dir: string): Promise<{ readonly path: string; done(): Promise<void> }>;
}

/** Parts of the demo that depend on what VMs are. */
export interface DemoSetup {
  readonly words: VmWords;
  /** Addresses that VMs may have, in order of preference; `comment` stands above them in the cloud config. */
  readonly ranges: readonly [string, ...string[]];
  readonly comment: string;
  readonly stemcell: DemoStemcell;
  /** Tells whether the cloud still has what the Director knows as a stemcell. */
  hasStemcell(cid: string): Promise<boolean>;
  /** Returns the error for addresses that are taken. */
  taken(range: string): Promise<Error | undefined>;
  /** Further commands to try after the demo. */
  readonly look: readonly string[];
}

export interface PrepareTools<C extends ChosenCpi = ChosenCpi> extends Pick<Tools, "home" | "ui" | "clock"> {
  /** Choice of a home that may have VMs. */
  readonly before: C | undefined;
}

/**
 * Describes a CPI to `slipway up`, `down`, `status` and `demo`. A new CPI takes a folder beside this file and a line in
 * `table.ts`; these commands compare names of CPIs nowhere else. Imports of the CPI itself stay inside the methods: the command
 * line is parsed without them.
 */
export interface CpiDescriptor<
  C extends ChosenCpi = ChosenCpi,
  S extends Selection = Selection,
  P extends PreparedCpi = PreparedCpi,
> {
  readonly name: string;
  /** Says what VMs are, for help texts. */
  readonly about: string;
  readonly words: VmWords;
  /** Options of `up` and `demo` that only this CPI takes. */
  readonly options: readonly Option[];
  readonly range: DemoRange;
  /** Schema of what a home remembers. Never holds a secret. */
  readonly choice: v.GenericSchema<unknown, C>;
  /** Decides by options, environment and the remembered choice, without looking at anything. */
  select(asked: AskedCpi, env: Environment, remembered: C | undefined): S;
  /** Checks that VMs can be made here. Without `needed`, a CPI may warn instead of failing. */
  prepare(selection: S, around: PrepareTools<C>, needed: boolean): Promise<P>;
  /** Makes the choice to remember; `before` is the one this home had. */
  decide(prepared: P, before: C | undefined, random: Random): C;
  /** Adds the Director's uuid to the choice, if the CPI finds its things by it. */
  withDirector(choice: C, director: string): C;
  /** Arguments and environment with which `up` in the background comes to the same selection. */
  launch(prepared: P): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
  backend(choice: C, tools: BackendTools): Promise<Backend>;
  stage(choice: C, tools: StageTools): Promise<DemoSetup>;
}
