import type { AgentId } from "@slipway/protocol/ids";
import type { Exposition, Sample } from "../metrics/exposition.ts";
import { BlobQuotaExceeded, TooManyBlobs } from "./errors.ts";

export interface BlobQuotaOptions {
  readonly vmBytes: number;
  readonly deploymentBytes: number;
  /** Names of the deployments that these agents belong to. An agent whose VM is not recorded yet has none. */
  readonly deploymentsOf: (agents: readonly AgentId[]) => Promise<ReadonlyMap<string, string>>;
}

/** Most blobs that one agent has at a time: empty ones take room in a file system, too. */
const MOST_BLOBS = 1_000;

/** One upload of an agent. */
export interface BlobUpload {
  /** Counts bytes that came in. Throws when the agent or its deployment would have too many. */
  take(bytes: number): void;
  /** Counts the upload as the blob `id` from now on. */
  keep(id: string): void;
  /** Forgets an upload that was not kept. */
  end(): void;
}

interface Usage {
  readonly blobs: Map<string, number>;
  /** Bytes of `blobs` and of uploads under way. */
  bytes: number;
  uploads: number;
}

/** Counts the bytes that agents have put into the blob service, and refuses more than their quotas. */
export class BlobQuota {
  readonly #options: BlobQuotaOptions;
  readonly #usage = new Map<AgentId, Usage>();
  readonly #deployments = new Map<string, string>();
  readonly #refused = { vm: 0, deployment: 0 };

  constructor(options: BlobQuotaOptions) {
    this.#options = options;
  }

  async begin(agentId: AgentId): Promise<BlobUpload> {
    const usage = this.#of(agentId);
    usage.uploads += 1;
    let bytes = 0;
    let over = false;
    try {
      await this.#learnDeployments();
      if (usage.blobs.size + usage.uploads > MOST_BLOBS) {
        this.#refused.vm += 1;
        throw TooManyBlobs({ agent: agentId, most: MOST_BLOBS });
      }
    } catch (error) {
      this.#endUpload(agentId, usage, 0);
      throw error;
    }
    return {
      take: (more) => {
        this.#mustFit(agentId, more);
        bytes += more;
        usage.bytes += more;
      },
      keep: (id) => {
        over = true;
        this.forget(agentId, id);
        usage.blobs.set(id, bytes);
        usage.uploads -= 1;
      },
      end: () => {
        if (!over) this.#endUpload(agentId, usage, bytes);
        over = true;
      },
    };
  }

  /** Counts a blob that was there when the Director started. */
  found(agentId: AgentId, id: string, bytes: number): void {
    const usage = this.#of(agentId);
    usage.blobs.set(id, bytes);
    usage.bytes += bytes;
  }

  forget(agentId: AgentId, id: string): void {
    const usage = this.#usage.get(agentId);
    const bytes = usage?.blobs.get(id);
    if (usage === undefined || bytes === undefined) return;
    usage.blobs.delete(id);
    usage.bytes -= bytes;
    this.#dropIfEmpty(agentId, usage);
  }

  forgetAgent(agentId: AgentId): void {
    for (const id of [...(this.#usage.get(agentId)?.blobs.keys() ?? [])]) this.forget(agentId, id);
  }

  /** Writes what agents hold, by deployment, and what was refused. */
  tell(into: Exposition): void {
    const all = new Map<string, number>();
    const largest = new Map<string, number>();
    for (const [agentId, { bytes }] of this.#usage) {
      const name = this.#deployments.get(agentId) ?? "";
      all.set(name, (all.get(name) ?? 0) + bytes);
      largest.set(name, Math.max(largest.get(name) ?? 0, bytes));
    }
    const samples = (values: ReadonlyMap<string, number>): readonly Sample[] =>
      [...values].map(([deployment, bytes]) => [{ deployment }, bytes]);
    const { vmBytes, deploymentBytes } = this.#options;
    const held = "slipway_agent_blob_bytes";
    into.add(held, "gauge", "Put by agents and not yet fetched, by deployment.", samples(all));
    const most = "slipway_agent_blob_largest_vm_bytes";
    into.add(most, "gauge", "Of the VM that has put most, by deployment.", samples(largest));
    into.add("slipway_agent_blob_quota_bytes", "gauge", "How much agents may put.", [
      [{ of: "vm" }, vmBytes],
      [{ of: "deployment" }, deploymentBytes],
    ]);
    into.add("slipway_agent_blob_refused_total", "counter", "Uploads that a quota has refused.", [
      [{ of: "vm" }, this.#refused.vm],
      [{ of: "deployment" }, this.#refused.deployment],
    ]);
  }

  #mustFit(agentId: AgentId, more: number): void {
    const { vmBytes, deploymentBytes } = this.#options;
    const bytes = this.#usage.get(agentId)?.bytes ?? 0;
    if (bytes + more > vmBytes) {
      this.#refused.vm += 1;
      throw BlobQuotaExceeded({ agent: agentId, of: "the VM", bytes, quota: vmBytes });
    }
    const name = this.#deployments.get(agentId);
    if (name === undefined) return;
    let together = 0;
    for (const [other, usage] of this.#usage)
      if (this.#deployments.get(other) === name) together += usage.bytes;
    if (together + more <= deploymentBytes) return;
    this.#refused.deployment += 1;
    const of = `deployment '${name}'`;
    throw BlobQuotaExceeded({ agent: agentId, of, bytes: together, quota: deploymentBytes });
  }

  async #learnDeployments(): Promise<void> {
    const unknown = [...this.#usage.keys()].filter((agentId) => !this.#deployments.has(agentId));
    if (unknown.length === 0) return;
    for (const [agentId, name] of await this.#options.deploymentsOf(unknown))
      this.#deployments.set(agentId, name);
  }

  #of(agentId: AgentId): Usage {
    const usage = this.#usage.get(agentId) ?? { blobs: new Map(), bytes: 0, uploads: 0 };
    this.#usage.set(agentId, usage);
    return usage;
  }

  #endUpload(agentId: AgentId, usage: Usage, bytes: number): void {
    usage.uploads -= 1;
    usage.bytes -= bytes;
    this.#dropIfEmpty(agentId, usage);
  }

  #dropIfEmpty(agentId: AgentId, { blobs, uploads }: Usage): void {
    if (blobs.size > 0 || uploads > 0) return;
    this.#usage.delete(agentId);
    this.#deployments.delete(agentId);
  }
}
