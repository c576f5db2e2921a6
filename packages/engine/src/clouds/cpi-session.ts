import { isDeepStrictEqual } from "node:util";
import type { Random } from "@slipway/kernel/random";
import { type ApiVersion, NEWEST_API_VERSION } from "@slipway/protocol/cpi/api-version";
import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import { CONTEXT_KEYS, type CpiContext } from "@slipway/protocol/cpi/context";
import { resultIn } from "@slipway/protocol/cpi/method";
import { CPI_METHODS, type CpiMethodName } from "@slipway/protocol/cpi/methods";
import type { DirectorUuid, RequestId } from "@slipway/protocol/ids";
import { type Agreement, negotiate } from "@slipway/protocol/negotiate";
import { check, kindOf } from "@slipway/protocol/schema/check";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { CpiName } from "../model/names.ts";
import { type CallOptions, CpiLost } from "./cloud.ts";
import { type Caller, callCpi } from "./cpi-call.ts";
import { InfoOnce, type Introduced, readInfo, type Waiter } from "./cpi-info.ts";
import type { CpiPort } from "./cpi-port.ts";
import type { Terms } from "./draft-arguments.ts";
import { BadCpiProperties, CpiAnswerUnusable, VersionsUnusable, VmWithoutRegistry } from "./errors.ts";
import type { DirectorRegistry } from "./registry-of-director.ts";
import { refusedByShape, ShownDialect } from "./shown-dialect.ts";

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

  constructor(options: CpiSessionOptions) {
    const properties = options.properties ?? {};
    const taken = CONTEXT_KEYS.filter((key) => Object.hasOwn(properties, key));
    // Upstream lets them win. A request id that never changes would make every create a repeat of the first.
    if (taken.length > 0) throw BadCpiProperties({ name: options.name, keys: taken });
    const { port, directorUuid, longestMs } = options;
    this.dialect = options.dialect ?? new ShownDialect();
    this.#options = options;
    this.#caller = { port, directorUuid, properties, longestMs };
    this.#info = new InfoOnce((waiter) => this.#introduce(waiter), port.fingerprint);
  }

  /** Returns the API version and capabilities agreed with the CPI, for VMs of this stemcell. */
  async agree(stemcell: number | undefined, waiter: Waiter): Promise<Agreed> {
    const introduced = await this.#info.get(waiter);
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
    const { requestId, signal, log, record, disks } = options;
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
      record,
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
