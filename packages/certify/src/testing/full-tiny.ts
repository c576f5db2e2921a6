import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { tinyCpi } from "../../../../examples/tiny-cpi/src/tiny-cpi.ts";
import type { RunProgram, Spoken } from "../exec-cpi.ts";

export interface TestRequest {
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly context: Readonly<Record<string, unknown>>;
  readonly api_version?: number;
}

/** The tiny CPI in this process, with the optional methods that it lacks, so that every rule applies to it. */
export class FullTiny {
  readonly #config: () => Promise<{ readonly tiny: { readonly dir: string } }>;
  readonly #networks = new Set<string>();
  #last = 0;

  constructor(configFile: string) {
    this.#config = async () => JSON.parse(await readFile(configFile, "utf8"));
  }

  async hasRegistry(): Promise<boolean> {
    return Object.hasOwn(await this.#config(), "registry");
  }

  async dir(): Promise<string> {
    return (await this.#config()).tiny.dir;
  }

  async has(kind: "vms" | "disks" | "stemcells", cid: unknown): Promise<boolean> {
    const path = join(await this.dir(), kind, String(cid));
    return await access(path).then(
      () => true,
      () => false,
    );
  }

  async ask(request: TestRequest): Promise<CpiResponse> {
    const own = await this.#extra(request);
    if (own !== undefined) return own;
    const config = { ...(await this.#config()) };
    return await embed(tinyCpi, { config }).request(request);
  }

  async #extra({ method, arguments: args }: TestRequest): Promise<CpiResponse | undefined> {
    const [first] = Array.isArray(args) ? args : [];
    if (method === "reboot_vm")
      return (await this.has("vms", first)) ? done(null) : refused("VMNotFound", "no VM");
    if (method === "calculate_vm_cloud_properties") {
      const complete = Object.hasOwn(Object(first), "ephemeral_disk_size");
      return complete ? done({ cpus: 1 }) : refused("CloudError", "ephemeral_disk_size is missing");
    }
    if (method === "update_disk")
      return (await this.has("disks", first)) ? done(null) : refused("DiskNotFound", "no disk");
    if (method === "create_network") {
      const number = ++this.#last;
      this.#networks.add(`net-${number}`);
      return done([`net-${number}`, { range: `10.9.${number}.0/24`, gateway: `10.9.${number}.1` }, {}]);
    }
    if (method === "delete_network")
      return this.#networks.delete(String(first)) ? done(null) : refused("NetworkNotFound", "no network");
    return undefined;
  }
}

export const done = (result: unknown): CpiResponse => ({ result, error: null, log: "" });
export const refused = (type: string, message: string): CpiResponse => ({
  result: null,
  error: { type: `Bosh::Clouds::${type}`, message, ok_to_retry: false },
  log: "",
});
export const spoken = (reply: unknown): Spoken => ({ out: JSON.stringify(reply), err: "", code: 0 });

/** Runs it as an executable is run: text in, text out. */
export const fullTinyProgram = (
  configFile: string,
  answer = (tiny: FullTiny, request: TestRequest) => tiny.ask(request),
): RunProgram => {
  const tiny = new FullTiny(configFile);
  return async (input) => {
    const request = readRequest(input);
    return spoken(
      request === undefined ? refused("CpiError", "the request is not JSON") : await answer(tiny, request),
    );
  };
};

export function readRequest(input: string): TestRequest | undefined {
  try {
    return parseStrictJson(input, "the request") as TestRequest;
  } catch {
    return undefined;
  }
}
