import type { BlobId } from "@slipway/engine/blobs/blobs";
import { display, slug } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { messageTrail } from "@slipway/kernel/errors";
import type { TaskContext } from "../tasks/task.ts";
import { NothingMatched } from "./errors.ts";
import type { OperationContext } from "./operation.ts";

export interface Fetched {
  readonly id: BlobId;
  /** Digest that the agent reports. */
  readonly digest: string;
}

/** Makes an agent pack its logs, and takes them in. */
export async function logsOf(
  instance: InstanceRecord,
  asked: { readonly types: string; readonly filters: readonly string[]; readonly as: BlobId },
  task: TaskContext,
  tools: OperationContext,
): Promise<Fetched> {
  const vm = activeVm(instance);
  if (vm === undefined) throw NothingMatched({ deployment: task.deployment ?? "", filter: slug(instance) });
  const agent = (tools.about?.(slug(instance)).agents ?? tools.agents).agent(vm);
  const { signal } = task;
  const stage = task.stage(`Fetching logs for ${display(instance)}`, [], 1);
  return await stage.step("Finding and packing log files", async () => {
    const { blobId, digest } = await agent.fetchLogs(asked.types, asked.filters, { signal });
    await agent.getBlob(blobId, (content) => tools.blobs.put(content, { id: asked.as }), { signal });
    // The blob lies on the VM's disk, and is not needed again.
    await agent.removeBlob(blobId, { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      task.debug(`${slug(instance)} keeps a copy of its logs: ${messageTrail(error)}`);
    });
    return { id: asked.as, digest };
  });
}
