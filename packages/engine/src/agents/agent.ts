import type { AgentId } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Networks } from "@slipway/protocol/settings/networks";

/** Who is to be reached: the part of a VM record that says so. */
export interface AgentAddress {
  readonly agentId: AgentId;
  /** `https://10.0.0.2:6868`. */
  readonly agentUrl: string;
}

export interface AgentState {
  readonly jobState: string;
  readonly networks: Networks;
  /** The whole answer, passed through to `instances` and `vms`. */
  readonly raw: JsonObject;
}

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** For one question; default 45 s. */
  readonly timeoutMs?: number | undefined;
  /** Told each time it was asked whether it is done, and when it does not know the message and that is fine. */
  readonly noted?: ((what: "polled" | "unknown") => void) | undefined;
}

/** Who can be asked whether it is there. */
export interface Pings {
  ping(options?: AskOptions): Promise<void>;
  /** Pings until it answers. The error says what it was waiting for, as far as it told. */
  waitUntilReady(options: AskOptions & { readonly withinMs: number }): Promise<void>;
}

export interface KnowsState {
  getState(full: boolean, options?: AskOptions): Promise<AgentState>;
}

export interface RunsJobs {
  apply(spec: JsonObject, options?: AskOptions): Promise<void>;
  prepare(spec: JsonObject, options?: AskOptions): Promise<void>;
  start(options?: AskOptions): Promise<void>;
  stop(options?: AskOptions): Promise<void>;
  /** How long to wait before it is drained, in ms; follows dynamic drains to their end. */
  drain(type: "shutdown" | "update", spec: JsonObject, options?: AskOptions): Promise<void>;
  runScript(name: string, env: JsonObject, options?: AskOptions): Promise<void>;
}

export interface HasDisks {
  listDisk(options?: AskOptions): Promise<readonly string[]>;
  addPersistentDisk(cid: string, hint: DiskHintWire, options?: AskOptions): Promise<void>;
  removePersistentDisk(cid: string, options?: AskOptions): Promise<void>;
  mountDisk(cid: string, options?: AskOptions): Promise<void>;
  unmountDisk(cid: string, options?: AskOptions): Promise<void>;
  migrateDisk(from: string, to: string, options?: AskOptions): Promise<void>;
}

/** A small text file on the mounted persistent disk. Our agents know it; others are `AgentUnaware`. */
export interface KeepsFiles {
  writeStoreFile(path: string, content: string, options?: AskOptions): Promise<void>;
  readStoreFile(path: string, options?: AskOptions): Promise<string>;
}

export interface TakesSettings {
  updateSettings(settings: UpdateSettings, options?: AskOptions): Promise<void>;
}

export interface ShutsDown {
  /** No answer is awaited. */
  shutdown(options?: AskOptions): Promise<void>;
}

/**
 * One agent, whatever carries its messages. Who needs only a part of it takes that part. Long messages are polled to
 * their end. Failures are `AgentRefused` (it answered with an exception; `AgentUnaware` when it does not know the
 * message), `AgentSilent` (no answer in time; holds the last thing known) or `WrongAgent` (somebody else answered).
 */
export interface Agent extends Pings, KnowsState, RunsJobs, HasDisks, KeepsFiles, TakesSettings, ShutsDown {}

/** How agents are reached, as far as `A` goes: who only pings takes `Reaches<Pings>`. */
export interface Reaches<A> {
  agent(address: AgentAddress): A;
}

/** How agents are given an identity. */
export interface Introduces {
  /** What a new VM is told: the `bosh` part of its env, and where it will listen. */
  introduce(vm: {
    readonly agentId: AgentId;
    /** Empty for networks whose addresses the cloud gives. */
    readonly ips: readonly string[];
  }): Promise<{
    readonly envBosh: JsonObject;
    readonly certificateUntil: number;
  }>;
  /** Where the agent is once its networks are known; undefined when none of them has an address. */
  urlFor(networks: Networks): string | undefined;
  /** New certificates for an agent that runs. */
  renewal(vm: {
    readonly agentId: AgentId;
    readonly ips: readonly string[];
  }): Promise<{ readonly settings: UpdateSettings; readonly certificateUntil: number }>;
}

export interface Agents extends Reaches<Agent>, Introduces {}

export class AgentRefused extends Error {
  override readonly name = "AgentRefused";
}

/** It is one that does not know the message. */
export class AgentUnaware extends AgentRefused {}

export class AgentSilent extends Error {
  override readonly name = "AgentSilent";
}

export class WrongAgent extends Error {
  override readonly name = "WrongAgent";
}
