import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import { jobsSpec } from "../jobs/spec.ts";
import type { DesiredInstance } from "../model/goal.ts";
import type { AppliedSpec } from "../model/records.ts";
import { currentVm } from "./select.ts";
import type { StepSubject } from "./step.ts";

/** Configuration hash of a deployment without jobs. */
export const NO_JOBS_HASH = "unused-configuration-hash";

const networksOf = ({ instance, goal }: StepSubject): Json =>
  (currentVm(instance)?.networks ?? goal.desired?.networks ?? {}) as unknown as Json;

/** The first apply: only who the instance is. */
export function firstSpec(subject: StepSubject, deployment: string): JsonObject {
  const { instance } = subject;
  return {
    deployment,
    job: { name: instance.group },
    index: instance.index,
    id: instance.uuid,
    networks: networksOf(subject),
  };
}

/** The full apply, for an instance without jobs: what jobs and packages add is laid over it. */
export function fullSpec(subject: StepSubject, deployment: string): JsonObject {
  const { instance, goal } = subject;
  return {
    deployment,
    name: instance.group,
    id: instance.uuid,
    index: instance.index,
    az: goal.desired?.az ?? instance.az,
    job: { name: instance.group, template: "", version: "", sha1: "", blobstore_id: "", templates: [] },
    networks: networksOf(subject),
    packages: {},
    configuration_hash: NO_JOBS_HASH,
    persistent_disk: goal.desired?.persistentDisk?.size ?? 0,
    rendered_templates_archive: { blobstore_id: "", sha1: "" },
    template_hashes: {},
  };
}

const NOT_SENT = { blobId: "", digest: "" };

/**
 * The apply spec that follows, for agents that compare it with what runs now. Its rendered jobs are on their way to no
 * agent yet. Empty for an instance that is deleted, as upstream has it.
 */
export function nextSpec(subject: StepSubject, deployment: string): JsonObject {
  const { desired } = subject.goal;
  if (desired === undefined) return {};
  const jobs = desired.jobs === null ? {} : jobsSpec(desired.group, desired.jobs, NOT_SENT);
  return { ...fullSpec(subject, deployment), ...jobs };
}

/** Returns the spec that is recorded for an instance that has reached its plan. */
export const appliedSpec = (desired: DesiredInstance): AppliedSpec => ({
  networks: desired.networks,
  persistentDisk: desired.persistentDisk,
  tags: desired.tags,
  configurationHash: desired.jobs?.configurationHash ?? NO_JOBS_HASH,
  ...(desired.jobs !== null && { jobs: desired.jobs }),
  vmType: desired.vmType,
  vmResources: desired.vmResources ?? null,
});
