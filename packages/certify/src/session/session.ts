import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import type { Random } from "@slipway/kernel/random";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { isObject } from "@slipway/protocol/schema/json";
import type { ContractVersion, CpiGiven } from "../cpi/check.ts";
import { CpiConfigInvalid, CpiNotRunnable } from "../errors.ts";
import { type CpiExecutable, executeCpi, programOf, type RunProgram } from "../exec-cpi.ts";
import { type CloudFile, networksOf } from "./cloud-file.ts";
import { Conversation } from "./conversation.ts";
import { journaled, replyIn } from "./journaled-run.ts";
import { openRegistry, type SessionRegistry } from "./registry.ts";
import { type Leftover, removeThings } from "./remove-things.ts";
import { RunDirectory } from "./run-directory.ts";

const CALL_SECONDS = 600;
export const DEFAULT_ARGUMENTS = ["--configFile", "{config}"];

export interface SessionOrder {
  readonly cpi: string;
  readonly config: string | undefined;
  readonly cloud: CloudFile;
  /** The file that create_stemcell gets; wins over that of the cloud file. */
  readonly image: string | undefined;
}

export interface SessionTools {
  readonly clock: Clock;
  readonly random: Random;
  /** Parent of the directories of all runs. */
  readonly runs: string;
  /** Runs the CPI with a configuration file in place of a process. */
  readonly program?: ((configFile: string) => RunProgram) | undefined;
}

/** A CPI executable with all that its checks need: registry, journal, conversation. */
export class Session {
  readonly #order: SessionOrder;
  readonly #tools: SessionTools;
  readonly #run: RunDirectory;
  readonly #registry: SessionRegistry | undefined;
  readonly conversation: Conversation;
  readonly #image: string;
  #vms = 0;

  private constructor(
    order: SessionOrder,
    tools: SessionTools,
    run: RunDirectory,
    registry: SessionRegistry | undefined,
    conversation: Conversation,
    image: string,
  ) {
    this.#order = order;
    this.#tools = tools;
    this.#run = run;
    this.#registry = registry;
    this.conversation = conversation;
    this.#image = image;
  }

  static async open(order: SessionOrder, tools: SessionTools): Promise<Session> {
    const { cloud } = order;
    const config = order.config === undefined ? undefined : await readConfig(order.config);
    const id = `${new Date(tools.clock.now()).toISOString().replace(/\W/g, "")}-${tools.random.hex(3)}`;
    const run = await RunDirectory.open(join(tools.runs, id), tools.clock);
    try {
      const password = tools.random.hex(16);
      const none = config === undefined || cloud.registry === "none";
      const registry = none ? undefined : await openRegistry({ dir: run.dir, config, cloud, password });
      // `clean` calls the CPI with the configuration of the run, even if the operator's file has changed.
      if (config !== undefined && registry === undefined)
        await writeFile(join(run.dir, "cpi.json"), JSON.stringify(config), { mode: 0o600 });
      const image = order.image ?? cloud.stemcell?.image ?? join(run.dir, "image");
      if (image === join(run.dir, "image")) await writeFile(image, "an image\n");
      await run.writeHeader({
        cpi: resolve(order.cpi),
        arguments: [...(config === undefined ? [] : (cloud.arguments ?? DEFAULT_ARGUMENTS))],
        registry: registry === undefined ? null : { port: registry.port, password },
        config: config ?? null,
        cloud,
      });
      return new Session(order, tools, run, registry, new Conversation(config, [password]), resolve(image));
    } catch (error) {
      await run.close();
      throw error;
    }
  }

  get journal() {
    return this.#run.journal;
  }

  /** The CPI with one of its configurations, recorded and journaled. */
  #executable(configFile: string | undefined): CpiExecutable {
    const { clock, program } = this.#tools;
    const { cloud, cpi } = this.#order;
    const words = configFile === undefined ? [] : (cloud.arguments ?? DEFAULT_ARGUMENTS);
    const path = resolve(cpi);
    const plain = {
      path,
      configFile: configFile ?? "",
      args: words.map((word) => word.replaceAll("{config}", configFile ?? "")),
    };
    const run = program?.(plain.configFile) ?? programOf(plain);
    return {
      ...plain,
      clock,
      deadlineMs: (cloud.limits?.call_seconds ?? CALL_SECONDS) * 1000,
      run: journaled(this.conversation.record(run), this.journal),
    };
  }

  get #configFile(): string | undefined {
    return this.#order.config === undefined ? undefined : join(this.#run.dir, "cpi.json");
  }

  /** Returns the input of the checks in one version. */
  given(version: ContractVersion): CpiGiven {
    const { cloud } = this.#order;
    const networks = networksOf(cloud);
    const files = this.#registry?.files;
    const command = cloud.observe?.user_data;
    return {
      cpi: this.#executable(this.#configFile),
      version,
      stemcell: { image: this.#image, cloudProperties: cloud.stemcell?.cloud_properties ?? {} },
      vmProperties: cloud.vm?.cloud_properties ?? {},
      diskProperties: cloud.disk?.cloud_properties ?? {},
      diskSize: cloud.disk?.size ?? 64,
      atOnce: { vms: cloud.limits?.vms_at_once ?? 3, disks: cloud.limits?.disks_at_once ?? 10 },
      // Of all versions together.
      networks: () => networks(++this.#vms),
      uuid: () => this.#tools.random.uuid(),
      registry: this.#registry && {
        ...this.#registry.view,
        without: this.#executable(files?.without),
        refusing: this.#executable(files?.refusing),
      },
      userData: command === undefined ? undefined : (vm) => printedBy(command, vm),
    };
  }

  /** Asks the CPI what it is. A program that cannot be run at all is an error of the environment. */
  async info(): Promise<unknown> {
    const request = { method: "info", arguments: [], context: { director_uuid: "certify" } };
    const cpi = this.#executable(this.#configFile);
    try {
      const { out } = await executeCpi(cpi, JSON.stringify(request), "info");
      return replyIn(out)?.result ?? undefined;
    } catch (cause) {
      throw CpiNotRunnable({ path: this.#order.cpi }, { cause });
    }
  }

  /** Removes everything that the run has made and still is there. */
  async removeAll(): Promise<readonly Leftover[]> {
    return await removeThings(this.journal, this.#executable(this.#configFile));
  }

  async close(): Promise<void> {
    await this.#registry?.close();
    await this.#run.close();
  }

  async subject(): Promise<{ readonly name: string; readonly sha256: string }> {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(this.#order.cpi)) hash.update(chunk as Buffer);
    return { name: basename(this.#order.cpi), sha256: hash.digest("hex") };
  }
}

async function readConfig(path: string): Promise<unknown> {
  try {
    const config = parseStrictJson(await readFile(path, "utf8"), path);
    if (isObject(config)) return config;
  } catch (cause) {
    throw CpiConfigInvalid({ path, why: messageTrail(cause) }, { cause });
  }
  throw CpiConfigInvalid({ path, why: "it is not an object" });
}

async function printedBy(command: readonly string[], vm: string): Promise<string> {
  const [program = "", ...args] = command.map((word) => word.replaceAll("{vm}", vm));
  const { stdout } = await mustRun(systemExec, "printing the user-data", program, args);
  return stdout;
}
