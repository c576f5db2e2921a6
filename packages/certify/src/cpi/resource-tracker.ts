import type { CpiErrorBody, CpiResponse } from "@slipway/protocol/cpi/envelope";
import { callCpi, executeCpi, type Spoken } from "../exec-cpi.ts";
import { CannotTell } from "../expect.ts";
import type { CpiGiven } from "./check.ts";

export interface CallVariation {
  readonly apiVersion?: number | undefined;
  readonly context?: object;
  readonly requestId?: string;
}

/** Version of the Director that the checks play, with new stemcells; the mixes are checked elsewhere. */
const API_VERSION = 2;
export const NOT_IMPLEMENTED = "Bosh::Clouds::NotImplemented";

/** Remembers what a CPI has made, so that nothing is left of it. */
export class ResourceTracker {
  readonly given: CpiGiven;
  readonly #director: string;
  readonly #made: { readonly method: string; readonly cid: string }[] = [];
  readonly errors: { readonly method: string; readonly error: CpiErrorBody }[] = [];
  #stemcell: Promise<string> | undefined;
  #vm: Promise<string> | undefined;
  #vms = 0;

  constructor(given: CpiGiven) {
    this.given = given;
    this.#director = given.uuid();
  }

  request(method: string, args: readonly unknown[], { context, requestId, ...more }: CallVariation = {}) {
    const apiVersion = "apiVersion" in more ? more.apiVersion : API_VERSION;
    return {
      method,
      arguments: args,
      context: {
        director_uuid: this.#director,
        request_id: requestId ?? this.given.uuid(),
        vm: { stemcell: { api_version: 2 } },
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
    const { cpi, around = (_, call) => call() } = this.given;
    const request = this.request(method, args, asking);
    return await around(method, () => callCpi({ ...cpi, deadlineMs }, request));
  }

  /** Writes just this text to the CPI's standard input. */
  async say(input: string): Promise<Spoken> {
    return await executeCpi(this.given.cpi, input);
  }

  async result<T = unknown>(method: string, args: readonly unknown[], asking?: CallVariation): Promise<T> {
    const { error, result } = await this.ask(method, args, asking);
    if (error?.type === NOT_IMPLEMENTED) throw new CannotTell(`the CPI does not implement ${method}`);
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
    if (error.type === NOT_IMPLEMENTED && !types.includes(error.type))
      throw new CannotTell(`the CPI does not implement ${method}`);
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
    return await this.result("create_stemcell", [image, cloudProperties]);
  }

  async vmArguments(stemcell?: string, env: object = {}): Promise<unknown[]> {
    const { uuid, vmProperties, networks } = this.given;
    const image = stemcell ?? (await this.stemcell());
    return [uuid(), image, vmProperties, networks(++this.#vms), [], env];
  }

  /** One for all checks that do it no harm. */
  async vm(): Promise<string> {
    this.#vm ??= this.#makeVm(await this.vmArguments());
    return await this.#vm;
  }

  async newVm(asking?: CallVariation): Promise<string> {
    return await this.vmOf(await this.vmArguments(), asking);
  }

  async vmOf(args: readonly unknown[], asking?: CallVariation): Promise<string> {
    return this.remember("delete_vm", await this.#makeVm(args, asking));
  }

  async #makeVm(args: readonly unknown[], asking?: CallVariation): Promise<string> {
    const [cid] = await this.result<[string]>("create_vm", args, asking);
    return cid;
  }

  async newDisk(size = 64): Promise<string> {
    return this.remember("delete_disk", await this.result("create_disk", [size, {}, null]));
  }

  remember(method: string, cid: string): string {
    this.#made.push({ method, cid });
    return cid;
  }

  /** Everything goes but the stemcell and the VM of all checks. What could not be removed is said. */
  async sweep(): Promise<readonly string[]> {
    const left: string[] = [];
    const made = this.#made.splice(0);
    const vm = await this.#vm?.catch(() => undefined);
    for (const method of ["delete_vm", "delete_snapshot", "delete_disk", "delete_network", "delete_stemcell"])
      for (const { cid } of made.filter((one) => one.method === method)) {
        if (method === "delete_disk" && vm !== undefined) await this.call("detach_disk", [vm, cid]);
        const { error } = await this.call(method, [cid]);
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
