import { defineErrorClass } from "@slipway/kernel/errors";
import type { AgentId } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Networks } from "@slipway/protocol/settings/networks";

/** Address of an agent: the part of a VM record needed to reach it. */
export interface AgentAddress {
  readonly agentId: AgentId;
  /** `https://10.0.0.2:6868`, or `nats://10.0.0.6:4222`: the server it is a client of. */
  readonly agentUrl: string;
}

/** Transport that carries messages to an agent. */
export type TransportName = "https" | "nats";

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
  /** True for a message that is not repeated after a timeout, because the caller asks again anyway. */
  readonly once?: boolean | undefined;
  /** Called on each poll of a task, and when the agent does not know an optional message. */
  readonly noted?: ((what: "polled" | "unknown") => void) | undefined;
  /** Called with the agent's name, the time waited and the time limit, once waiting takes more than a few seconds. */
  readonly waits?: ((message: string) => void) | undefined;
}

/** An agent that answers ping. */
export interface Pingable {
  ping(options?: AskOptions): Promise<void>;
  /** Pings until the agent answers. The error says what the Director was waiting for, as far as that is known. */
  waitUntilReady(options: AskOptions & { readonly withinMs: number }): Promise<void>;
}

export interface StateReporter {
  /** `problems`: with vitals, and with what is wrong with each process that does not run, from agents that tell. */
  getState(full: boolean | "problems", options?: AskOptions): Promise<AgentState>;
}

/** Agents look at the filters they know: upstream's at the first. */
export const stateFilters = (full: boolean | "problems"): readonly string[] =>
  full === "problems" ? ["full", "problems"] : full ? ["full"] : [];

export interface JobControl {
  apply(spec: JsonObject, options?: AskOptions): Promise<void>;
  prepare(spec: JsonObject, options?: AskOptions): Promise<void>;
  start(options?: AskOptions): Promise<void>;
  stop(options?: AskOptions): Promise<void>;
  /** How long to wait before it is drained, in ms; follows dynamic drains to their end. */
  drain(type: "shutdown" | "update", spec: JsonObject, options?: AskOptions): Promise<void>;
  runScript(name: string, env: JsonObject, options?: AskOptions): Promise<void>;
}

/** A package in a blobstore, in the form that agents expect. */
export interface PackageBlob {
  readonly name: string;
  readonly version: string;
  readonly blobId: string;
  readonly digest: string;
}

/** Content of a blob to send: all bytes, or a stream of known size. */
export type BlobContent = Uint8Array | { readonly size: number; readonly content: AsyncIterable<Uint8Array> };

export interface BlobTransfer {
  /** Puts it where the agent looks for blobs before it asks a blobstore. */
  putBlob(id: string, content: BlobContent, options?: AskOptions): Promise<void>;
  /** Hands over, as it comes, a blob that the agent made. What `take` throws is thrown. */
  getBlob<T>(
    id: string,
    take: (content: AsyncIterable<Uint8Array>) => Promise<T>,
    options?: AskOptions,
  ): Promise<T>;
  /** Removes a blob that is no longer needed. An agent that keeps the blob does no harm. */
  removeBlob(id: string, options?: AskOptions): Promise<void>;
}

/** A blob as the agent that made it names it. */
export type MadeBlob = Pick<PackageBlob, "blobId" | "digest">;

export interface PackageCompiler extends BlobTransfer {
  /** Compiles a source with packages that are compiled already; what came of it is in the agent's blobstore. */
  compilePackage(
    source: PackageBlob,
    dependencies: readonly PackageBlob[],
    options?: AskOptions,
  ): Promise<MadeBlob>;
}

export interface LogSource extends BlobTransfer {
  /** Packs logs of the types (`job`, `agent`, `system`, or several with commas); globs pick files, none means all. */
  fetchLogs(types: string, filters: readonly string[], options?: AskOptions): Promise<MadeBlob>;
}

export interface SshEndpoint {
  readonly ip: string;
  readonly hostPublicKey: string;
  /** Undefined: ssh's own. */
  readonly port?: number | undefined;
}

export interface SshAccess {
  /** Makes the user. */
  sshSetup(user: string, publicKey: string, options?: AskOptions): Promise<SshEndpoint>;
  /** Removes the users whose names fit. */
  sshCleanup(userRegex: string, options?: AskOptions): Promise<void>;
}

export interface ErrandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface ErrandRunner {
  /** Without a name the first job's. When the signal ends it, the errand is ended too, and what came of it is given. */
  runErrand(job: string | undefined, options?: AskOptions): Promise<ErrandResult>;
}

export interface DiskControl {
  listDisk(options?: AskOptions): Promise<readonly string[]>;
  /** False: the agent does not know the message. */
  addPersistentDisk(cid: string, hint: DiskHintWire, options?: AskOptions): Promise<boolean>;
  /** The name of the first design. False: the agent does not know the message. */
  updatePersistentDisk(cid: string, hint: DiskHintWire, options?: AskOptions): Promise<boolean>;
  removePersistentDisk(cid: string, options?: AskOptions): Promise<void>;
  /** The hint is for agents that learn of it with no other message; the rest ignore it. */
  mountDisk(cid: string, options?: AskOptions & { readonly hint?: DiskHintWire | undefined }): Promise<void>;
  unmountDisk(cid: string, options?: AskOptions): Promise<void>;
  migrateDisk(from: string, to: string, options?: AskOptions): Promise<void>;
}

/** A small text file on the mounted persistent disk. Our agents know it; others are `AgentUnaware`. */
export interface StoreFiles {
  writeStoreFile(path: string, content: string, options?: AskOptions): Promise<void>;
  readStoreFile(path: string, options?: AskOptions): Promise<string>;
}

export interface SettingsUpdater {
  updateSettings(settings: UpdateSettings, options?: AskOptions): Promise<void>;
}

/** DNS records of all instances, as a blob that the agent has. */
export interface DnsBlob {
  readonly blobId: string;
  readonly digest: string;
  readonly version: number;
}

export interface DnsSync extends BlobTransfer {
  /** Sends DNS records to the agent, which ignores a version that is not newer than its own. */
  syncDns(blob: DnsBlob, options?: AskOptions): Promise<void>;
}

export interface ShutdownControl {
  /** No answer is awaited. */
  shutdown(options?: AskOptions): Promise<void>;
}

/**
 * One agent, over any transport. Callers that need only a part of the interface take that part. Long messages are polled to their
 * end. Failures are `AgentRefused` (the agent answered with an exception; `AgentUnaware` if it does not know the message),
 * `AgentSilent` (no answer in time; holds the last thing known) or `WrongAgent` (another agent answered).
 */
export interface Agent
  extends Pingable,
    StateReporter,
    JobControl,
    PackageCompiler,
    LogSource,
    SshAccess,
    ErrandRunner,
    DiskControl,
    StoreFiles,
    SettingsUpdater,
    DnsSync,
    ShutdownControl {}

/** How agents are reached, as far as `A` goes: a caller that only pings takes `AgentLookup<Pingable>`. */
export interface AgentLookup<A> {
  agent(address: AgentAddress): A;
}

/** Data recorded about the certificate that an agent was given. */
export interface GivenCertificate {
  readonly certificateUntil: number;
  /** Over NATS: whom the agent believes, and who has signed for it. */
  readonly natsTrust?: string | undefined;
}

/** How agents are given an identity. */
export interface AgentIntroduction {
  /** How agents of new VMs are reached. */
  readonly transport: TransportName;
  /** Rejects with the reason when agents of new VMs could not be reached, however long they were waited for. */
  ready(): Promise<void>;
  /** Returns the settings of a new VM's agent: the `bosh` part of its env, and the URL where the Director will reach it. */
  introduce(
    vm: {
      readonly agentId: AgentId;
      /** Empty for networks whose addresses the cloud gives. */
      readonly ips: readonly string[];
    },
    by?: TransportName,
  ): Promise<GivenCertificate & { readonly envBosh: JsonObject }>;
  /** Returns the agent's URL once its networks are known; undefined if the transport needs an address and no network has one. */
  urlFor(networks: Networks, by?: TransportName): string | undefined;
  /** New certificates for an agent that runs. */
  renewal(
    vm: AgentAddress & { readonly ips: readonly string[] },
  ): Promise<GivenCertificate & { readonly settings: UpdateSettings }>;
  /** Returns when the authority that signs for agents ends, in milliseconds since 1970. No agent certificate lasts longer. */
  signerEnds(by: TransportName): number;
}

export interface Agents extends AgentLookup<Agent>, AgentIntroduction {}

/** The agent answered with an error. */
export class AgentRefused extends defineErrorClass({
  code: "DIA-012",
  about: "the agent refuses {method}: {why}",
  kind: "outside",
  next: "Correct what the agent names, and do it again.",
}) {
  override readonly name = "AgentRefused";
}

/** Thrown if the agent does not know the message. */
export class AgentUnaware extends AgentRefused {
  static override readonly code: string = "DIA-013";
  static override readonly message = (): string => "the agent does not know the message {method}";
}

/** The agent did not answer: what became of the message is not known. The message has the next step. */
export class AgentSilent extends defineErrorClass({
  code: "DIA-014",
  about: "the agent does not answer: {why}; next: {next}",
  kind: "outside",
  next: "",
}) {
  override readonly name = "AgentSilent";
}

/** Another agent answered, or one that does not prove who it is. The message has the next step. */
export class WrongAgent extends defineErrorClass({
  code: "DIA-015",
  about: "another agent answers, or one that does not prove who it is: {why}; next: {next}",
  kind: "outside",
  next: "",
}) {
  override readonly name = "WrongAgent";
}

/** True for any failure of the conversation with an agent. */
export const isAgentError = (error: unknown): boolean =>
  error instanceof AgentRefused || error instanceof AgentSilent || error instanceof WrongAgent;
