import { mkdir, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { vmNotFound } from "@slipway/cpi-sdk/errors";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { exists, namesIn, place } from "./places.ts";
import { endProcess, startProcess } from "./vm-process.ts";

export interface VmsOptions {
  readonly dir: string;
  readonly agent: string;
}

/** A VM is a directory with what its agent must find, and a process. Attached disks are names in it. */
export class Vms {
  readonly #dir: string;
  readonly #agent: string;

  constructor({ dir, agent }: VmsOptions) {
    this.#dir = join(dir, "vms");
    this.#agent = agent;
  }

  has(cid: string): Promise<boolean> {
    return exists(this.#path(cid));
  }

  async must(cid: string): Promise<void> {
    if (!(await this.has(cid))) throw vmNotFound(cid);
  }

  /** Whole or not at all; a repeat finds the first one. */
  async create(cid: string, userData: string): Promise<void> {
    if (await this.has(cid)) return;
    const path = this.#path(cid);
    const partial = `${path}.partial`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(join(partial, "disks"), { recursive: true, mode: 0o700 });
    await mkdir(join(partial, "vcap", "bosh"), { recursive: true });
    const source = { Type: "File", SettingsPath: join(path, "user-data.json") };
    const agentConfig = {
      Platform: { Linux: { SkipDiskSetup: true } },
      Infrastructure: { Settings: { Sources: [source] } },
    };
    await writeFile(join(partial, "user-data.json"), userData, { mode: 0o600 });
    await writeFile(join(partial, "agent.json"), JSON.stringify(agentConfig), { mode: 0o600 });
    await rename(partial, path);
  }

  /** The pid. One that runs already is left alone. */
  start(cid: string): Promise<number> {
    return startProcess(this.#path(cid), this.#agent);
  }

  stop(cid: string): Promise<void> {
    return endProcess(this.#path(cid));
  }

  async remove(cid: string): Promise<void> {
    const path = this.#path(cid);
    if (!(await exists(path))) return;
    await endProcess(path);
    const doomed = `${path}.deleted`;
    await rename(path, doomed);
    await rm(doomed, { recursive: true, force: true });
  }

  async describe(cid: string, metadata: JsonObject): Promise<void> {
    await this.must(cid);
    await writeFileAtomic(join(this.#path(cid), "metadata.json"), JSON.stringify(metadata));
  }

  async attach(cid: string, disk: string): Promise<void> {
    await writeFileAtomic(join(this.#path(cid), "disks", place(disk)), disk);
  }

  async detach(cid: string, disk: string): Promise<void> {
    await unlink(join(this.#path(cid), "disks", place(disk)));
  }

  async disksOf(cid: string): Promise<string[]> {
    await this.must(cid);
    return await namesIn(join(this.#path(cid), "disks"));
  }

  async holderOf(disk: string): Promise<string | undefined> {
    for (const cid of await namesIn(this.#dir)) {
      if (/\.(partial|deleted)$/.test(cid)) continue;
      if (await exists(join(this.#dir, cid, "disks", place(disk)))) return cid;
    }
    return undefined;
  }

  #path(cid: string): string {
    return join(this.#dir, place(cid));
  }
}
