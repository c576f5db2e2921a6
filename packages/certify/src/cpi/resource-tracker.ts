import { messageTrail } from "@slipway/kernel/errors";
import type { CpiErrorBody, CpiResponse } from "@slipway/protocol/cpi/envelope";
import { methodNamed } from "@slipway/protocol/cpi/methods";
import { type CpiExecutable, callCpi, executeCpi, type Spoken } from "../exec-cpi.ts";
import { CannotTell, Prerequisite } from "../expect.ts";
import type { ContractVersion, CpiGiven } from "./check.ts";

export interface CallVariation {
  readonly apiVersion?: number | undefined;
  /** Version of the VM's stemcell; null: the context has none. */
  readonly stemcell?: number | null;
  /** The CPI in place of the one under test, such as one with another configuration. */
  readonly cpi?: CpiExecutable;
  readonly context?: object;
  readonly requestId?: string;
}

/** Version of the Director that the checks play unless told otherwise. */
const API_VERSION = 2;
const DISK_SIZE = 64;
export const NOT_IMPLEMENTED = "Bosh::Clouds::NotImplemented";

/** Remembers what a CPI has made, so that nothing is left of it. */
export class ResourceTracker {
  readonly given: CpiGiven;
  readonly version: ContractVersion;
  readonly #director: string;
  readonly #made: { readonly method: string; readonly cid: string; readonly of: CallVariation }[] = [];
  readonly errors: { readonly method: string; readonly error: CpiErrorBody }[] = [];
  #stemcell: Promise<string> | undefined;
  #vm: Promise<string> | undefined;
  #vms = 0;

  constructor(given: CpiGiven) {
    this.given = given;
    this.version = given.version ?? API_VERSION;
    this.#director = given.uuid();
  }

  request(
    method: string,
    args: readonly unknown[],
    { context, requestId, stemcell = this.version === 1 ? 1 : 2, ...more }: CallVariation = {},
  ) {
    const apiVersion = "apiVersion" in more ? more.apiVersion : this.version;
    return {
      method,
      arguments: args,
      context: {
        director_uuid: this.#director,
        request_id: requestId ?? this.given.uuid(),
        vm: { stemcell: stemcell === null ? {} : { api_version: stemcell } },
        ...context,
      },
      ...(apiVersion !== undefined && { api_version: apiVersion }),
    };
  }

  async ask(method: string, args: readonly unknown[], asking?: CallVariation): Promise<CpiResponse> {
    const reply = await this.call(method, args, asking);
    if (reply.error !== null) this.errors.push({ method, error: reply.error });
    return reply;
  }

  /**
   * Calls the CPI like `ask`, without counting its errors among those that are checked. The call is killed at the
   * deadline.
   */
  async call(
    method: string,
    args: readonly unknown[],
    asking?: CallVariation,
    deadlineMs = this.given.cpi.deadlineMs,
  ): Promise<CpiResponse> {
    const { around = (_, call) => call() } = this.given;
    const cpi = asking?.cpi ?? this.given.cpi;
    const request = this.request(method, args, asking);
    return await around(method, () => callCpi({ ...cpi, deadlineMs }, request));
  }

  /** Writes just this text to the CPI's standard input. */
  async say(input: string): Promise<Spoken> {
    return await executeCpi(this.given.cpi, input);
  }

  async result<T = unknown>(method: string, args: readonly unknown[], asking?: CallVariation): Promise<T> {
    const { error, result } = await this.ask(method, args, asking);
    if (error?.type === NOT_IMPLEMENTED) throw notImplemented(method);
    if (error !== null) throw new Error(`${method} is refused: ${error.type} ${error.message}`);
    return result as T;
  }

  async refusal(
    method: string,
    args: readonly unknown[],
    ...types: readonly string[]
  ): Promise<CpiErrorBody> {
    const { error, result } = await this.ask(method, args);
    if (error === null) throw new Error(`${method} is not refused: ${JSON.stringify(result)}`);
    if (error.type === NOT_IMPLEMENTED && !types.includes(error.type)) throw notImplemented(method);
    if (types.length > 0 && !types.includes(error.type))
      throw new Error(`${method} is refused as ${error.type} (${error.message}), not ${types.join(" or ")}`);
    return error;
  }

  /** Success, or a refusal of this type. */
  async doneOr(type: string, method: string, args: readonly unknown[]): Promise<void> {
    const { error } = await this.ask(method, args);
    if (error !== null && error.type !== type)
      throw new Error(`${method} is refused as ${error.type} (${error.message}), not ${type}`);
  }

  /** One for all checks. */
  async stemcell(): Promise<string> {
    this.#stemcell ??= this.#makeStemcell();
    return await this.#stemcell;
  }

  async newStemcell(): Promise<string> {
    return this.remember("delete_stemcell", await this.#makeStemcell());
  }

  async #makeStemcell(): Promise<string> {
    const { image, cloudProperties } = this.given.stemcell;
    const tags = this.version >= 3 ? [{ tags: {} }] : [];
    return await needed(async () =>
      cidOf(await this.result("create_stemcell", [image, cloudProperties, ...tags]), "create_stemcell"),
    );
  }

  async vmArguments(stemcell?: string, env: object = {}): Promise<unknown[]> {
    const { uuid, vmProperties, networks } = this.given;
    const image = stemcell ?? (await this.stemcell());
    return [uuid(), image, vmProperties, networks(++this.#vms), [], env];
  }

  /** One for all checks that do it no harm. */
  async vm(): Promise<string> {
    this.#vm ??= needed(async () => this.#makeVm(await this.vmArguments()));
    return await this.#vm;
  }

  async newVm(asking?: CallVariation): Promise<string> {
    const args = await this.vmArguments();
    return await needed(() => this.vmOf(args, asking));
  }

  /** Makes a VM for a check that is about just that. */
  async vmOf(args: readonly unknown[], asking?: CallVariation): Promise<string> {
    return this.remember("delete_vm", await this.#makeVm(args, asking), asking);
  }

  async #makeVm(args: readonly unknown[], asking?: CallVariation): Promise<string> {
    const made = await this.result("create_vm", args, asking);
    return cidOf(Array.isArray(made) ? made[0] : made, "create_vm");
  }

  async newDisk(): Promise<string> {
    return await needed(() => this.diskOf());
  }

  /** Makes a disk for a check that is about just that. */
  async diskOf(asking?: CallVariation): Promise<string> {
    const made = await this.result("create_disk", this.diskArguments(this.diskSize), asking);
    return this.remember("delete_disk", cidOf(made, "create_disk"));
  }

  get diskSize(): number {
    return this.given.diskSize ?? DISK_SIZE;
  }

  diskArguments(size: number): readonly unknown[] {
    return [size, this.given.diskProperties ?? {}, null];
  }

  /** Removes it after the check, with the versions that it was made with. */
  remember(method: string, cid: string, asking: CallVariation = {}): string {
    const { stemcell, apiVersion } = asking;
    const of = { ...("apiVersion" in asking && { apiVersion }), ...(stemcell !== undefined && { stemcell }) };
    this.#made.push({ method, cid, of });
    return cid;
  }

  /** Everything goes but the stemcell and the VM of all checks. What could not be removed is said. */
  async sweep(): Promise<readonly string[]> {
    const left: string[] = [];
    const made = this.#made.splice(0);
    const vm = await this.#vm?.catch(() => undefined);
    for (const method of ["delete_vm", "delete_snapshot", "delete_disk", "delete_network", "delete_stemcell"])
      for (const { cid, of } of made.filter((one) => one.method === method)) {
        if (method === "delete_disk" && vm !== undefined) await this.call("detach_disk", [vm, cid]);
        const { error } = await this.call(method, [cid], of);
        if (error !== null && !error.type.endsWith("NotFound")) left.push(`${cid}: ${error.message}`);
      }
    return left;
  }

  async close(): Promise<void> {
    await this.sweep();
    const vm = await this.#vm?.catch(() => undefined);
    if (vm !== undefined) await this.call("delete_vm", [vm]);
    const stemcell = await this.#stemcell?.catch(() => undefined);
    if (stemcell !== undefined) await this.call("delete_stemcell", [stemcell]);
  }
}

/** A CPI may do without a method only if the contract lets it. */
const notImplemented = (method: string): Error =>
  methodNamed(method)?.mandatory === true
    ? new Error(`the CPI does not implement ${method}, which every CPI must have`)
    : new CannotTell(`the CPI does not implement ${method}`);

function cidOf(cid: unknown, method: string): string {
  if (typeof cid === "string" && cid !== "") return cid;
  throw new Error(`${method} did not answer a cid`);
}

/** Makes what a check needs; other rules are about making it. */
async function needed<T>(make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof CannotTell) throw error;
    throw new Prerequisite(messageTrail(error), { cause: error });
  }
}
