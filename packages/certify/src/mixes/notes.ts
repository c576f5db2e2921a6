import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { RegistryWriter } from "@slipway/protocol/negotiate";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Look, RegistryAccess } from "./look.ts";
import type { CallSeen, Entry, Told } from "./row.ts";
import type { Eyes } from "./watch.ts";

const WRITERS: readonly string[] = [
  "create_vm",
  "attach_disk",
  "detach_disk",
  "delete_vm",
] satisfies RegistryWriter[];

/** Notes, call by call, what passes between one Director and its CPI, and how the registry looks around it. */
export class Notes implements Eyes {
  readonly #look: Look;
  readonly #before = new Map<CpiRequest, Entry>();
  #calls: CallSeen[] = [];
  #told: Told[] = [];
  /** Outlive a row: a Director asks its CPI for `info` once, and has one registry. */
  cpiSaid: number | null = null;
  access: RegistryAccess | undefined;

  constructor(look: Look) {
    this.#look = look;
  }

  /** The rows of one Director come one after the other. */
  turnPage(): void {
    this.#calls = [];
    this.#told = [];
  }

  get calls(): readonly CallSeen[] {
    return this.#calls;
  }

  get told(): readonly Told[] {
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

  async before(request: CpiRequest): Promise<void> {
    const { method, context } = request;
    this.access = (context.registry as RegistryAccess | undefined) ?? this.access;
    if (!WRITERS.includes(method)) return;
    const vm = method === "create_vm" ? "" : String(request.arguments[0]);
    this.#before.set(request, vm === "" ? "no entry" : await this.#look.registry(vm, this.access));
    // With the VM its log goes.
    if (method === "delete_vm") this.#told.push({ vm, messages: await this.#look.told(vm) });
  }

  async after(request: CpiRequest, reply: CpiResponse): Promise<void> {
    const { method } = request;
    if (method === "info") {
      const said = (reply.result as { readonly api_version?: unknown } | null)?.api_version;
      this.cpiSaid = typeof said === "number" ? said : 1;
    }
    // What is refused must leave no trace; the Director says so by failing.
    if (!WRITERS.includes(method) || reply.error !== null) return;
    const [first, second] = request.arguments;
    const vm = method === "create_vm" ? cidIn(reply.result) : String(first);
    const { context } = request;
    this.#calls.push({
      method: method as RegistryWriter,
      apiVersion: request.api_version ?? 1,
      stemcell: context.vm?.stemcell?.api_version ?? null,
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
