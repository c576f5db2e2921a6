import { embed } from "@slipway/cpi-sdk/embed";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { AwsSite } from "@slipway/testkit/aws-cloud";
import { cpiAws } from "../cpi-aws.ts";

export const DIRECTOR = "director-1";

export interface Asked {
  readonly requestId?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly director?: string;
  readonly apiVersion?: number;
  readonly stemcell?: number;
  /** The section `registry`. */
  readonly registry?: JsonObject;
}

let requests = 0;

/** Calls of the CPI in this process, each with a request id of its own. */
export class AwsCpi {
  readonly #site: () => AwsSite;

  constructor(site: () => AwsSite) {
    this.#site = site;
  }

  async reply(method: string, args: readonly unknown[], asked: Asked = {}): Promise<CpiResponse> {
    const aws = { ...this.#site().config, ...asked.config } as JsonObject;
    const agent = { mbus: "https://mbus:s3cret@0.0.0.0:6868" };
    const registry = asked.registry === undefined ? {} : { registry: asked.registry };
    const client = embed(cpiAws, { config: { aws, agent, ...registry } });
    return await client.request({
      method,
      arguments: args,
      api_version: asked.apiVersion ?? 2,
      context: {
        director_uuid: asked.director ?? DIRECTOR,
        request_id: asked.requestId ?? `request-of-a-test-${++requests}`,
        vm: { stemcell: { api_version: asked.stemcell ?? 2 } },
      },
    });
  }

  async call<T = unknown>(method: string, args: readonly unknown[], asked?: Asked): Promise<T> {
    const { result, error, log } = await this.reply(method, args, asked);
    if (error !== null) throw new Error(`${error.type} ${error.message}\n${log}`);
    return result as T;
  }

  async refusal(method: string, args: readonly unknown[], asked?: Asked) {
    const { result, error } = await this.reply(method, args, asked);
    if (error === null) throw new Error(`${method} is not refused: ${JSON.stringify(result)}`);
    return error;
  }

  stemcell(): string {
    return `${this.#site().image} light`;
  }

  network(ip: string, more: object = {}): object {
    return {
      ...{ type: "manual", ip, netmask: "255.255.255.0", gateway: "10.0.1.1", dns: ["10.0.0.2"] },
      cloud_properties: { subnet: this.#site().subnet },
      ...more,
    };
  }

  /** Arguments of create_vm. */
  vm(networks: object, properties: object = {}, disks: readonly string[] = [], env: object = {}): unknown[] {
    return ["agent-1", this.stemcell(), { instance_type: "m5.large", ...properties }, networks, disks, env];
  }

  async create(networks: object, properties?: object, asked?: Asked): Promise<string> {
    const [cid] = await this.call<[string]>("create_vm", this.vm(networks, properties), asked);
    return cid;
  }

  /** Asks moto itself, and returns its XML. */
  async show(action: string, parameters: Readonly<Record<string, string>>): Promise<string> {
    return await this.#site().proxy.ask(action, parameters);
  }
}
