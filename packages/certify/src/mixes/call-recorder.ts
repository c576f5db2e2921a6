import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { MixOf8 } from "../matrix/mixes.ts";
import { readBy, saidBy, sentBy } from "./old-parts.ts";
import {
  type AgentMessagesOfVm,
  type CallSeen,
  REGISTRY_USERS,
  type RegistryState,
  type RegistryUser,
} from "./row.ts";
import type { RegistryCredentials, StateReader } from "./state-reader.ts";
import type { CallObserver } from "./watch.ts";

const USERS: readonly string[] = REGISTRY_USERS;

export interface CallRecorderOptions {
  readonly look: StateReader;
  readonly ages: Pick<MixOf8, "director" | "cpi">;
  /** Puts the registry into the CPI's own configuration: old parts know no other way. */
  readonly configure: (access: RegistryCredentials) => Promise<void>;
}

/** Notes, call by call, what passes between one Director and its CPI, and how the registry looks around it. */
export class CallRecorder implements CallObserver {
  readonly #look: StateReader;
  readonly #ages: CallRecorderOptions["ages"];
  readonly #configure: CallRecorderOptions["configure"];
  readonly #sent = new Map<CpiRequest, CpiRequest>();
  readonly #before = new Map<CpiRequest, RegistryState>();
  #calls: CallSeen[] = [];
  #told: AgentMessagesOfVm[] = [];
  /** Outlive a row: a Director asks its CPI for `info` once, and has one registry. */
  cpiSaid: number | null = null;
  access: RegistryCredentials | undefined;

  constructor({ look, ages, configure }: CallRecorderOptions) {
    this.#look = look;
    this.#ages = ages;
    this.#configure = configure;
  }

  /** The rows of one Director come one after the other. */
  turnPage(): void {
    this.#calls = [];
    this.#told = [];
  }

  get calls(): readonly CallSeen[] {
    return this.#calls;
  }

  get told(): readonly AgentMessagesOfVm[] {
    return this.#told;
  }

  /** The VM that was made last, unless it is deleted. */
  get vm(): string | null {
    const last = this.#calls.findLast(({ method }) => method === "create_vm" || method === "delete_vm");
    return last?.method === "create_vm" ? last.vm : null;
  }

  /** The disk that was attached last. */
  get disk(): string | null {
    return this.#calls.findLast(({ method }) => method === "attach_disk")?.disk ?? null;
  }

  async before(given: CpiRequest): Promise<CpiRequest> {
    const { director, cpi } = this.#ages;
    const access = given.context.registry as RegistryCredentials | undefined;
    if (access !== undefined && this.access === undefined && (director === 1 || cpi === 1))
      await this.#configure(access);
    this.access = access ?? this.access;
    const sent = sentBy(director, given);
    const request = readBy(cpi, sent);
    this.#sent.set(request, sent);
    await this.#lookBefore(request);
    return request;
  }

  async #lookBefore(request: CpiRequest): Promise<void> {
    const { method } = request;
    if (!USERS.includes(method)) return;
    const vm = method === "create_vm" ? "" : String(request.arguments[0]);
    this.#before.set(request, vm === "" ? "no entry" : await this.#look.registry(vm, this.access));
    // With the VM its log goes.
    if (method === "delete_vm") this.#told.push({ vm, messages: await this.#look.told(vm) });
  }

  async after(request: CpiRequest, given: CpiResponse): Promise<CpiResponse> {
    const reply = saidBy(this.#ages.cpi, request, given);
    if (request.method === "info") {
      const said = (reply.result as { readonly api_version?: unknown } | null)?.api_version;
      this.cpiSaid = typeof said === "number" ? said : null;
    }
    await this.#lookAfter(request, reply);
    return reply;
  }

  async #lookAfter(request: CpiRequest, reply: CpiResponse): Promise<void> {
    const { method } = request;
    // What is refused must leave no trace; the Director says so by failing.
    if (!USERS.includes(method) || reply.error !== null) return;
    const [first, second] = request.arguments;
    const vm = method === "create_vm" ? cidIn(reply.result) : String(first);
    const { context, api_version: apiVersion = null } = this.#sent.get(request) ?? request;
    this.#calls.push({
      method: method as RegistryUser,
      apiVersion,
      stemcell: context.vm?.stemcell?.api_version ?? null,
      registryTold: context.registry !== undefined,
      vm,
      disk: method.endsWith("_disk") ? String(second) : null,
      agentId: method === "create_vm" ? String(first) : null,
      answer: answerOf(method, reply.result),
      before: this.#before.get(request) ?? "no entry",
      after: await this.#look.registry(vm, this.access),
    });
  }
}

const cidIn = (result: unknown): string => String(Array.isArray(result) ? result[0] : result);

function answerOf(method: string, result: unknown): CallSeen["answer"] {
  if (method === "attach_disk") return (result ?? null) as DiskHintWire | null;
  if (method !== "create_vm") return null;
  if (typeof result === "string") return "cid";
  return Array.isArray(result) && result.length === 2 ? "[cid, networks]" : "other";
}
