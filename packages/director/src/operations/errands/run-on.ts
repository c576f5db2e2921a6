import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { blobId } from "@slipway/engine/blobs/blob-id";
import { display, slug } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { messageTrail } from "@slipway/kernel/errors";
import { type ErrandLine, errandResult } from "@slipway/protocol/director/errand";
import { matches } from "@slipway/protocol/schema/check";
import { isCancelled, type TaskContext } from "../../tasks/task.ts";
import { NothingMatched } from "../errors.ts";
import { newLogs } from "../log-blobs.ts";
import { logsOf } from "../logs-of.ts";
import type { OperationContext } from "../operation.ts";

export interface ErrandOrder {
  readonly deployment: string;
  readonly name: string;
  /** Undefined: the first job of the instance. */
  readonly job: string | undefined;
  /** Id of the run, unique to the task. */
  readonly run: string;
  /** Digest of what all its instances run: `--when-changed` compares it. */
  readonly state: string;
}

/** Runs it in one VM. What came of it is kept: a task that is taken up again does not run it twice. */
export async function runOn(
  instance: InstanceRecord,
  order: ErrandOrder,
  task: TaskContext,
  tools: OperationContext,
): Promise<ErrandLine> {
  const kept = blobId(`logs-errand-${order.run}-${instance.uuid}`);
  const before = await tools.blobs.get(kept);
  const known: unknown = before && JSON.parse(await text(before.content));
  if (matches(errandResult, known)) return known;
  const name = slug(instance);
  const { deployment, name: errand } = order;
  const event = { action: "run", objectType: "errand", objectName: errand, deployment, instance: name };
  const parentId = await task.audit(event);
  let line: ErrandLine;
  try {
    line = await run(instance, order, task, tools);
  } catch (error) {
    await task.audit({ ...event, parentId, error: messageTrail(error) });
    throw error;
  }
  if (!task.signal.aborted)
    await tools.blobs.put(Readable.from([Buffer.from(JSON.stringify(line))]), { id: kept });
  await task.audit({ ...event, parentId, context: { exit_code: line.exit_code, state: order.state } });
  return line;
}

async function run(
  instance: InstanceRecord,
  { deployment, name, job }: ErrandOrder,
  task: TaskContext,
  tools: OperationContext,
): Promise<ErrandLine> {
  const { signal } = task;
  const vm = activeVm(instance);
  if (vm === undefined) throw NothingMatched({ deployment, filter: slug(instance) });
  const agent = (tools.about?.(slug(instance)).agents ?? tools.agents).agent(vm);
  const stage = task.stage("Running errand", [], 1);
  const ran = await stage.step(display(instance), () => agent.runErrand(job, { signal }));
  // What was cut short because the task goes on elsewhere is no result.
  if (!isCancelled(task)) signal.throwIfAborted();
  const logs = signal.aborted ? undefined : await fetchedLogs(instance, task, tools);
  return {
    instance: { group: instance.group, id: instance.uuid },
    errand_name: name,
    exit_code: ran.exitCode,
    stdout: ran.stdout,
    stderr: ran.stderr,
    logs: { blobstore_id: logs?.id ?? null, sha1: logs?.digest ?? null },
  };
}

/** An errand has run, whether or not its logs can be had. */
async function fetchedLogs(instance: InstanceRecord, task: TaskContext, tools: OperationContext) {
  try {
    return await logsOf(instance, { types: "job", filters: [], as: newLogs(tools.random) }, task, tools);
  } catch (error) {
    task.signal.throwIfAborted();
    task.warn(`the logs of ${slug(instance)} are missing: ${messageTrail(error)}`);
    return undefined;
  }
}
