import { pipeline } from "node:stream";
import { createGzip } from "node:zlib";
import { AgentRefused, AgentSilent, WrongAgent } from "@slipway/engine/agents/agent";
import type { BlobId } from "@slipway/engine/blobs/blobs";
import { slug } from "@slipway/engine/model/names";
import type { InstanceRecord } from "@slipway/engine/model/records";
import { messageTrail } from "@slipway/kernel/errors";
import { tarBytes } from "@slipway/kernel/tar/write";
import { fetchLogsParams } from "@slipway/protocol/director/task-params";
import { loadInstances } from "../store/instances.ts";
import type { TaskContext } from "../tasks/task.ts";
import { NoLogs, NothingMatched } from "./errors.ts";
import { inFlight } from "./in-flight.ts";
import { newLogs, newPart } from "./log-blobs.ts";
import { logsOf } from "./logs-of.ts";
import { type OperationContext, operation } from "./operation.ts";

const AT_ONCE = 10;

/** `bosh logs`: the result is the id of a blob. Of several instances it holds an archive each. */
export const fetchLogs = operation(fetchLogsParams, async (params, task, tools) => {
  const { deployment, types, filters } = params;
  const wanted = new Set(params.instances);
  const found = (await loadInstances(tools.db, deployment)).filter(({ uuid }) => wanted.has(uuid));
  const [first] = found;
  if (first === undefined) throw NothingMatched({ deployment, filter: params.instances.join(", ") });
  const asked = { types, filters };
  if (params.instances.length === 1) {
    const { id } = await logsOf(first, { ...asked, as: newLogs(tools.random) }, task, tools);
    return id;
  }
  return await together(found, asked, task, tools);
});

interface Part {
  readonly instance: InstanceRecord;
  readonly id: BlobId;
}

/** An instance whose agent does not answer is left out, unless all are: the logs of the others tell why, perhaps. */
async function together(
  instances: readonly InstanceRecord[],
  asked: { readonly types: string; readonly filters: readonly string[] },
  task: TaskContext,
  tools: OperationContext,
): Promise<string> {
  const parts: Part[] = [];
  const missing: string[] = [];
  try {
    await inFlight(instances, AT_ONCE, async (instance) => {
      const id = newPart(tools.random);
      try {
        await logsOf(instance, { ...asked, as: id }, task, tools);
        parts.push({ instance, id });
      } catch (error) {
        task.signal.throwIfAborted();
        if (!isOfAgent(error)) throw error;
        missing.push(`${slug(instance)}: ${messageTrail(error)}`);
        task.warn(`the logs of ${slug(instance)} are missing: ${messageTrail(error)}`);
      }
    });
    if (parts.length === 0) throw NoLogs({ why: missing });
    const stage = task.stage("Fetching group of logs", [], 1);
    return await stage.step("Packing log files together", () => pack(parts, tools));
  } finally {
    for (const { id } of parts) await tools.blobs.remove(id);
  }
}

const isOfAgent = (error: unknown): boolean =>
  error instanceof AgentSilent || error instanceof AgentRefused || error instanceof WrongAgent;

async function pack(parts: readonly Part[], { blobs, clock, random }: OperationContext): Promise<string> {
  const now = clock.now();
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(/[T:]/g, "-");
  const entries = parts.map(({ instance: { group, uuid }, id }) => ({
    type: "stream" as const,
    name: `./${group}.${uuid}.${time}.tgz`,
    mode: 0o644,
    open: async () => {
      const blob = await blobs.get(id);
      if (blob === undefined) throw NoLogs({ why: [`${group}/${uuid}: what its agent has sent is gone`] });
      return blob;
    },
  }));
  // What is in it is packed already.
  const gzip = createGzip({ level: 1 });
  // Who reads it hears of every failure.
  pipeline(tarBytes(entries, Math.floor(now / 1000)), gzip, () => undefined);
  const { id } = await blobs.put(gzip, { id: newLogs(random) });
  return id;
}
