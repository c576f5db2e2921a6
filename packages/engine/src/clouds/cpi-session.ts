import { isDeepStrictEqual } from "node:util";
import type { Random } from "@slipway/kernel/random";
import { type ApiVersion, NEWEST_API_VERSION } from "@slipway/protocol/cpi/api-version";
import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import { CONTEXT_KEYS, type CpiContext } from "@slipway/protocol/cpi/context";
import type { Dialect } from "@slipway/protocol/cpi/create-vm-result";
import { resultIn } from "@slipway/protocol/cpi/method";
import { CPI_METHODS, type CpiMethodName } from "@slipway/protocol/cpi/methods";
import { infoResult } from "@slipway/protocol/cpi/methods/info";
import type { DirectorUuid, RequestId } from "@slipway/protocol/ids";
import { type Agreement, negotiate } from "@slipway/protocol/negotiate";
import { check, kindOf } from "@slipway/protocol/schema/check";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { CallRecorder } from "../call-log/call-log.ts";
import type { CpiName } from "../model/names.ts";
import { type CallOptions, CpiLost, CpiRefused, refusedAs } from "./cloud.ts";
import { type Caller, callCpi, type RecordCall } from "./cpi-call.ts";
import type { CpiPort } from "./cpi-port.ts";
import { BadCpiProperties, CpiAnswerUnusable, VersionsUnusable, VmWithoutRegistry } from "./errors.ts";
import type { DirectorRegistry } from "./registry-of-director.ts";

export interface CpiSessionOptions {
  readonly name: CpiName;
  readonly port: CpiPort;
  readonly directorUuid: DirectorUuid;
  readonly random: Random;
  /** Merged into the context of every call. A `registry` among them takes the place of ours. */
  readonly properties?: JsonObject | undefined;
  /** The highest version to ask for: `director.cpi_api_test_max_version`. */
  readonly maxApiVersion?: ApiVersion | undefined;
  /** Longest time of one call; default: by method. */
  readonly longestMs?: number | undefined;
  readonly registry?: DirectorRegistry | undefined;
  /** Outlives the session; default: one of its own. */
  readonly dialect?: ShownDialect | undefined;
}

/** Agreed version and capabilities, which decide the shape of a call. */
export interface Terms {
  readonly apiVersion: ApiVersion;
  readonly capabilities: Capabilities;
}

type Agreed = Agreement & { readonly introduced: Introduced };

interface AgreedForVm {
  readonly agreed: Agreed;
  readonly stemcellApiVersion: number | undefined;
  /** Announced or shown. */
  readonly capabilities: Capabilities;
}

type CallArguments = readonly unknown[] | ((terms: Terms) => readonly unknown[]);

/** The newest stemcell whose agents read the registry under every version of the contract. */
const REGISTRY_STEMCELL = 1;

/**
 * Calls to one CPI after the versions are agreed on: the first caller asks for `info`, and it is asked for again after a call
 * that failed by its form.
 */
export class CpiSession {
  readonly dialect: ShownDialect;
  readonly #options: CpiSessionOptions;
  readonly #caller: Caller;
  readonly #info: InfoOnce;
  readonly #record: RecordCall | undefined;

  /** `of`: a session of the same CPI, whose agreement with the CPI the new one shares. */
  constructor(options: CpiSessionOptions, of?: CpiSession, record?: RecordCall) {
    const properties = options.properties ?? {};
    const taken = CONTEXT_KEYS.filter((key) => Object.hasOwn(properties, key));
    // Upstream lets them win. A request id that never changes would make every create a repeat of the first.
    if (taken.length > 0) throw BadCpiProperties({ name: options.name, keys: taken });
    const { port, directorUuid, longestMs } = options;
    this.dialect = of?.dialect ?? options.dialect ?? new ShownDialect();
    this.#options = options;
    this.#record = record;
    this.#caller = { port, directorUuid, properties, longestMs };
    this.#info = of ? of.#info : new InfoOnce((waiter) => this.#introduce(waiter), port.fingerprint);
  }

  get name(): CpiName {
    return this.#options.name;
  }

  recordedBy(recorder: CallRecorder): CpiSession {
    const to = `cpi:${this.name}`;
    return new CpiSession(this.#options, this, (call) => recorder({ ...call, to }));
  }

  /** Returns the API version and capabilities agreed with the CPI, for VMs of this stemcell. */
  async agree(stemcell: number | undefined, waiter: Waiter): Promise<Agreed> {
    const introduced = await this.#info.get({ ...waiter, record: this.#record });
    const director = { min: 1, max: this.#options.maxApiVersion ?? NEWEST_API_VERSION };
    const agreed = negotiate({ director, cpi: introduced.apiVersion, stemcell });
    if (agreed.outcome === "refused")
      throw VersionsUnusable({ name: this.#options.name, problems: agreed.problems });
    return { ...agreed, introduced };
  }

  /** Makes sure that the registry runs. Returns undefined if the CPI and its agents use another registry, or none. */
  async registry(): Promise<JsonObject | undefined> {
    if (this.#caller.properties.registry !== undefined) return undefined;
    const access = await this.#options.registry?.start();
    return access === undefined ? undefined : { ...access };
  }

  /**
   * The result as it came, and what it was asked for under. A CPI that refuses the form of a call is asked for its `info`
   * again, and called again if that asks for another form.
   */
  async call(
    method: CpiMethodName,
    args: CallArguments,
    options: CallOptions,
  ): Promise<{ readonly result: unknown } & Terms> {
    const before = await this.#agreeForVm(method, options);
    try {
      return await this.#send(method, args, options, before);
    } catch (error) {
      if (error instanceof CpiLost && CpiAnswerUnusable.is(error.cause)) this.#info.forget();
      if (!refusedByShape(error)) throw error;
      this.#info.forget();
      this.dialect.refuted();
      const after = await this.#agreeForVm(method, options);
      if (isDeepStrictEqual(termsOf(before), termsOf(after))) throw error;
      return await this.#send(method, args, options, after);
    }
  }

  async #send(
    method: CpiMethodName,
    args: CallArguments,
    options: CallOptions,
    { agreed, stemcellApiVersion, capabilities }: AgreedForVm,
  ): Promise<{ readonly result: unknown } & Terms> {
    const { requestId, signal, log, disks } = options;
    const { apiVersion } = agreed;
    const result = await callCpi(this.#caller, {
      method,
      arguments: typeof args === "function" ? args({ apiVersion, capabilities }) : args,
      apiVersion,
      requestId,
      vm: vmContext(stemcellApiVersion, disksFor(disks, capabilities)),
      more: await this.#registryFor(method, agreed, stemcellApiVersion),
      signal,
      log,
      record: this.#record,
    });
    return { result, apiVersion, capabilities };
  }

  /**
   * A VM keeps the channel it was made with, whatever CPI is asked today. One whose agent reads the registry is shown to
   * a newer CPI as one of a stemcell that does: by the contract the CPI then keeps its entry. To one that was made
   * without an entry an older CPI cannot attach a disk.
   */
  async #agreeForVm(method: CpiMethodName, options: CallOptions): Promise<AgreedForVm> {
    const { stemcellApiVersion, channel } = options;
    const agreed = await this.agree(stemcellApiVersion, options);
    const capabilities = this.dialect.over(agreed.introduced.capabilities);
    if (channel === "registry" && agreed.registryless) {
      const older = await this.agree(REGISTRY_STEMCELL, options);
      return { agreed: older, stemcellApiVersion: REGISTRY_STEMCELL, capabilities };
    }
    if (channel === "user-data" && !agreed.registryless && method === "attach_disk")
      throw VmWithoutRegistry({ cpi: this.#options.port.command, why: agreed.reason });
    return { agreed, stemcellApiVersion, capabilities };
  }

  /** The result, if it is what the contract says. */
  async checked<T>(method: CpiMethodName, args: CallArguments, options: CallOptions): Promise<T> {
    const { result, apiVersion } = await this.call(method, args, options);
    const checked = check(resultIn(CPI_METHODS[method], apiVersion).schema, result, `${method} result`);
    if (!checked.ok)
      throw this.wrong(method, options, `it returned ${kindOf(result)}: ${checked.problems.join("; ")}`);
    return checked.value as T;
  }

  /** The CPI answered, but not with what was asked for: it may have done the work. Its `info` may be another by now. */
  wrong(method: CpiMethodName, options: CallOptions, problem: string): CpiLost {
    this.#info.forget();
    const cpi = this.#options.port.command;
    return new CpiLost(
      method,
      `The CPI broke its contract in '${method}' CPI method (CPI request ID: '${options.requestId}'): ${problem}`,
      { cause: CpiAnswerUnusable({ cpi, method }) },
    );
  }

  async #introduce(waiter: Waiter): Promise<Introduced> {
    const requestId = `cpi-${this.#options.random.hex(8)}` as RequestId;
    const call = { method: "info", arguments: [], apiVersion: undefined, requestId, ...waiter } as const;
    return readInfo(await callCpi(this.#caller, call), this.#options.port.command);
  }

  async #registryFor(
    method: CpiMethodName,
    agreed: Agreed,
    stemcell: number | undefined,
  ): Promise<JsonObject | undefined> {
    const writers: readonly string[] = agreed.registryWrites;
    // Of an unknown stemcell the CPI may find an entry in a registry that runs; none is started for it.
    const needed =
      writers.includes(method) && (stemcell !== undefined || this.#options.registry?.running === true);
    const registry = needed ? await this.registry() : undefined;
    return registry === undefined ? undefined : { registry };
  }
}

const termsOf = ({ agreed, capabilities }: AgreedForVm): Terms => ({
  apiVersion: agreed.apiVersion,
  capabilities,
});

/** Returns the disks for the context of a call. As upstream, an empty map is sent only to a CPI that asked for disks. */
function disksFor(disks: CallOptions["disks"], capabilities: Capabilities): CallOptions["disks"] {
  const asks =
    capabilities.attach_disk_takes_disks === true || capabilities.detach_disk_returns_disks === true;
  return asks || Object.keys(disks ?? {}).length > 0 ? disks : undefined;
}

function vmContext(
  stemcell: number | undefined,
  disks: CallOptions["disks"],
): NonNullable<CpiContext["vm"]> | undefined {
  if (stemcell === undefined && disks === undefined) return undefined;
  return {
    ...(stemcell !== undefined && { stemcell: { api_version: stemcell } }),
    ...(disks !== undefined && { disks }),
  };
}

/** The dialects whose `attach_disk` takes the disks of the VM as a third argument. */
const TAKES_DISKS: readonly Dialect[] = ["draft-a", "draft-b", "2018-object"];

/**
 * The dialect of a CPI that announces no capabilities, as its answers have shown it. Kept for as long as the CPI's entry
 * stays as it is, longer than one task. Records are no proof: the CPI that made a VM may have been replaced.
 */
export class ShownDialect {
  #takesDisks = false;

  /** Takes note of a `create_vm` result. */
  saw(dialect: Dialect): void {
    if (TAKES_DISKS.includes(dialect)) this.#takesDisks = true;
  }

  /** Takes note that the CPI has refused arguments: it may have been replaced. */
  refuted(): void {
    this.#takesDisks = false;
  }

  /** Returns what the CPI announces, and what it has shown where it announces nothing of it. */
  over(announced: Capabilities): Capabilities {
    const { attach_disk_takes_disks: takes, create_vm_result: result } = announced;
    const silent = takes === undefined && result === undefined;
    return silent && this.#takesDisks ? { ...announced, attach_disk_takes_disks: true } : announced;
  }
}

const ARGUMENTS = /wrong number of arguments|arguments are not correct|(?:not enough|too many) arguments/i;

/** True for errors that say the call itself was of the wrong form: another version or dialect was expected. */
const refusedByShape = (error: unknown): boolean =>
  refusedAs(error, "InvalidCall", "CPIAPIVersionNotSupported") ||
  (error instanceof CpiRefused && ARGUMENTS.test(error.message));

/** Data that a CPI reported about itself. */
interface Introduced {
  /** Version as the CPI reported it; undefined means 1. */
  readonly apiVersion: number | undefined;
  readonly stemcellFormats: readonly string[] | undefined;
  readonly capabilities: Capabilities;
}

interface Waiter {
  readonly signal?: AbortSignal | undefined;
  readonly log?: ((text: string) => void) | undefined;
  readonly record?: RecordCall | undefined;
}

/** A CPI of before `info`, as Directors took it until version 1 was given up. */
const OLD: Introduced = { apiVersion: undefined, stemcellFormats: undefined, capabilities: {} };

function readInfo(value: unknown, cpi: string): Introduced {
  const given: unknown = typeof value === "object" && value !== null ? withDefaults(value) : value;
  const checked = check(infoResult, given, "info result");
  if (!checked.ok) {
    throw new CpiLost("info", `invalid info response of the CPI ${cpi}: ${checked.problems.join("; ")}`, {
      cause: CpiAnswerUnusable({ cpi, method: "info" }),
    });
  }
  const { api_version, capabilities } = checked.value;
  const formats = (value as { readonly stemcell_formats?: readonly string[] | null }).stemcell_formats;
  return { apiVersion: api_version, stemcellFormats: formats ?? undefined, capabilities: capabilities ?? {} };
}

/** Null means missing, and formats may be missing: upstream then takes any. */
function withDefaults(value: object): object {
  const given = Object.entries(value).filter(([, inner]) => inner !== null);
  return { stemcell_formats: [], ...Object.fromEntries(given) };
}

interface Asking {
  readonly of: string;
  readonly answer: Promise<Introduced>;
  readonly stop: AbortController;
  waiting: number;
}

/**
 * Asks for `info` once and remembers the answer until the CPI changes or `forget` is called; a failure is not remembered. The
 * call is canceled when its last waiter cancels.
 */
class InfoOnce {
  readonly #ask: (waiter: Waiter) => Promise<Introduced>;
  readonly #fingerprint: (() => Promise<string>) | undefined;
  #known: { readonly of: string; readonly said: Introduced } | undefined;
  #asking: Asking | undefined;

  constructor(ask: (waiter: Waiter) => Promise<Introduced>, fingerprint?: () => Promise<string>) {
    this.#ask = ask;
    this.#fingerprint = fingerprint;
  }

  /** Asks again next time: the program may start another one, whose version changes without a trace. */
  forget(): void {
    this.#known = undefined;
  }

  async get(waiter: Waiter): Promise<Introduced> {
    waiter.signal?.throwIfAborted();
    const now = this.#fingerprint === undefined ? "" : await this.#fingerprint();
    waiter.signal?.throwIfAborted();
    if (this.#known?.of === now) return this.#known.said;
    const asking = this.#asking?.of === now ? this.#asking : this.#start(now, waiter);
    asking.waiting += 1;
    let onAbort = () => {};
    const left = new Promise<never>((_, reject) => {
      onAbort = () => reject(waiter.signal?.reason as Error);
      waiter.signal?.addEventListener("abort", onAbort, { once: true });
    });
    try {
      return await Promise.race([asking.answer, left]);
    } finally {
      waiter.signal?.removeEventListener("abort", onAbort);
      asking.waiting -= 1;
      if (asking.waiting === 0) this.#end(asking, waiter.signal?.reason);
    }
  }

  #end(asking: Asking, reason: unknown): void {
    if (this.#asking === asking) this.#asking = undefined;
    asking.stop.abort(reason);
  }

  #start(of: string, { log, record }: Waiter): Asking {
    const stop = new AbortController();
    const answer = this.#ask({ signal: stop.signal, log, record })
      .catch((error: unknown) => {
        if (refusedAs(error, "NotImplemented")) return OLD;
        throw error;
      })
      .then((said) => {
        this.#known = { of, said };
        return said;
      });
    // Every waiter may be gone when this fails.
    answer.catch(() => undefined);
    this.#asking = { of, answer, stop, waiting: 0 };
    return this.#asking;
  }
}
