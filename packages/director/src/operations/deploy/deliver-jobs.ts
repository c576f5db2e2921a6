import { type Agent, AgentUnaware } from "@slipway/engine/agents/agent";
import { jobsSpec } from "@slipway/engine/jobs/spec";
import type { InstanceUuid } from "@slipway/engine/model/names";
import {
  activeVm,
  type InstalledPackage,
  type InstanceJobs,
  type InstanceRecord,
} from "@slipway/engine/model/records";
import type { JobsToRun } from "@slipway/engine/steps/context";
import type { RenderedArchive } from "@slipway/engine/templates/rendered-archive";
import type { AgentId } from "@slipway/protocol/ids";
import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { pushBlob } from "../compile/moved-blobs.ts";
import type { OperationContext } from "../operation.ts";
import type { RenderedInstance } from "./render-instances.ts";

/** Packages and jobs that an agent has unpacked and does not use yet. */
interface Prepared {
  readonly packages: ReadonlySet<string>;
  /** Rendered jobs; undefined: only packages. */
  readonly archive: { readonly blobId: string; readonly digest: string } | undefined;
}

/** Sends an agent what it does not have: its rendered jobs, and packages it has not installed. */
export const deliverJobs = (
  jobs: ReadonlyMap<InstanceUuid, InstanceJobs>,
  rendered: (instance: InstanceRecord) => Promise<RenderedInstance | undefined>,
  tools: OperationContext,
): JobsToRun => {
  const preparedBy = new Map<AgentId, Prepared>();

  const push = async (
    agent: Agent,
    packages: readonly InstalledPackage[],
    there: ReadonlySet<string>,
    signal: AbortSignal,
  ) => {
    for (const one of packages) if (!there.has(idOf(one))) await pushBlob(agent, one, tools, signal);
  };

  const pushArchive = async (agent: Agent, archive: RenderedArchive, signal: AbortSignal) => {
    const blobId = tools.random.uuid();
    await agent.putBlob(blobId, archive.bytes, { signal });
    return { blobId, digest: archive.digest };
  };

  return {
    deliver: async (instance, agent, signal) => {
      const { uuid, group } = instance;
      const its = jobs.get(uuid);
      const archive = its && (await rendered(instance))?.archive;
      if (its === undefined || archive === undefined) return {};
      const agentId = activeVm(instance)?.agentId;
      const prepared = agentId && preparedBy.get(agentId);
      // Relied on once: who asks again was refused what is said to be there.
      if (agentId !== undefined) preparedBy.delete(agentId);
      const there = prepared?.packages ?? (await installedOn(agent, signal));
      await push(agent, its.packages, there, signal);
      const unpacked = prepared?.archive?.digest === archive.digest ? prepared.archive : undefined;
      return jobsSpec(group, its, unpacked ?? (await pushArchive(agent, archive, signal)));
    },
    prepare: async (instance, { agentId, agent, what, spec }, signal) => {
      const { uuid, group } = instance;
      const its = jobs.get(uuid);
      const found = what === "jobs" && its ? (await rendered(instance))?.archive : undefined;
      if (its === undefined || (what === "jobs" && found === undefined)) return;
      const installed = await installedOn(agent, signal);
      await push(agent, its.packages, installed, signal);
      const archive = found && (await pushArchive(agent, found, signal));
      const named = jobsSpec(group, its, archive ?? { blobId: "", digest: "" });
      try {
        const wanted = what === "jobs" ? named : { packages: named.packages ?? {}, job: {} };
        await agent.prepare({ ...spec, ...wanted }, { signal });
      } catch (error) {
        if (error instanceof AgentUnaware) return;
        throw error;
      }
      preparedBy.set(agentId, {
        packages: new Set([...installed, ...its.packages.map(idOf)]),
        archive,
      });
    },
    isPrepared: (agentId) => preparedBy.has(agentId),
  };
};

/** Returns the packages that the agent reports: a recreated VM has none. */
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
