import type { Agent } from "@slipway/engine/agents/agent";
import { jobsSpec } from "@slipway/engine/jobs/spec";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { InstalledPackage, InstanceJobs, InstanceRecord } from "@slipway/engine/model/records";
import type { JobsToRun } from "@slipway/engine/steps/context";
import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { pushBlob } from "../compile/moved-blobs.ts";
import type { OperationContext } from "../operation.ts";
import type { RenderedInstance } from "./render-instances.ts";

/** Sends an agent what it does not have: its rendered jobs, and packages it has not installed. */
export const bringJobs = (
  jobs: ReadonlyMap<InstanceUuid, InstanceJobs>,
  rendered: (instance: InstanceRecord) => Promise<RenderedInstance | undefined>,
  tools: OperationContext,
): JobsToRun => ({
  bring: async (instance, agent, signal) => {
    const { uuid, group } = instance;
    const its = jobs.get(uuid);
    const archive = its && (await rendered(instance))?.archive;
    if (its === undefined || archive === undefined) return {};
    const there = await installedOn(agent, signal);
    for (const one of its.packages) if (!there.has(idOf(one))) await pushBlob(agent, one, tools, signal);
    const blobId = tools.random.uuid();
    await agent.putBlob(blobId, archive.bytes, { signal });
    return jobsSpec(group, its, { blobId, digest: archive.digest });
  },
});

/** What the agent says it has: a VM that was made anew has nothing. */
async function installedOn(agent: Agent, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const { raw } = await agent.getState(false, { signal });
  const packages: JsonObject = isObject(raw.packages) ? (raw.packages as JsonObject) : {};
  return new Set(
    Object.values(packages).flatMap((one) =>
      isObject(one) && typeof one.blobstore_id === "string" && typeof one.sha1 === "string"
        ? [`${one.blobstore_id} ${one.sha1}`]
        : [],
    ),
  );
}

const idOf = ({ blobId, digest }: InstalledPackage): string => `${blobId} ${digest}`;
