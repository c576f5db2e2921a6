import { readJobManifest } from "@slipway/protocol/release/job-mf";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { BlobId } from "../../blobs/blobs.ts";
import type { ManifestJob } from "../../manifest/model.ts";
import type { DesiredInstance } from "../../model/goal.ts";
import type { GroupName, InstanceUuid } from "../../model/names.ts";
import { stemcell } from "../../plan/testing/builders.ts";
import type { KnownJob, KnownRelease } from "../../releases/model.ts";
import type { JobsInput, PlannedJobs } from "../model.ts";
import { planJobs } from "../plan-jobs.ts";

/** Small releases, jobs and instances for tests: everything has a default, tests write what they are about. */

export function knownJob(name: string, mf: object = {}): KnownJob {
  const read = readJobManifest({ name, ...mf });
  if (!read.ok) throw new Error(read.problems.join("\n"));
  return {
    name,
    version: `${name}-v`,
    fingerprint: `${name}-f`,
    digest: `sha256:${name}`,
    blobId: `${name}-blob` as BlobId,
    job: read.job,
  };
}

export const release = (name: string, ...jobs: KnownJob[]): KnownRelease => ({
  id: 1,
  name,
  version: "1.0",
  commitHash: "abc",
  uncommittedChanges: false,
  jobs,
  packages: [],
});

export const releases = (...all: KnownRelease[]): JobsInput["releases"] =>
  new Map(all.map((one) => [one.name, one]));

export const job = (name: string, given: Partial<ManifestJob> = {}): ManifestJob => ({
  name,
  release: "demo",
  properties: undefined,
  consumes: {},
  provides: {},
  customProviders: [],
  ...given,
});

export const MANUAL: Networks = {
  private: {
    type: "manual",
    ip: "10.0.0.5",
    netmask: "255.255.255.0",
    gateway: "10.0.0.1",
    dns: [],
    default: ["dns", "gateway"],
    cloud_properties: {},
  },
};

export const instance = (
  group: string,
  index: number,
  given: Partial<Omit<DesiredInstance, "group" | "index">> = {},
): DesiredInstance => ({
  group: group as GroupName,
  uuid: `${group}-${index}` as InstanceUuid,
  index,
  az: "z1",
  bootstrap: index === 0,
  state: "started",
  cpi: "",
  stemcell: stemcell("1.1"),
  cloudProperties: {},
  vmResources: undefined,
  vmType: "small",
  env: {},
  tags: {},
  networks: MANUAL,
  ips: [],
  persistentDisk: null,
  jobs: null,
  ...given,
});

export function plannedJobs(input: Omit<JobsInput, "director">): PlannedJobs & { readonly ok: true } {
  const result = planJobs({ director: { name: "director" }, ...input });
  if (result.ok) return result;
  throw new Error(result.problems.map((one) => `${one.code} ${one.where}: ${one.problem}`).join("\n"));
}

export function refusedJobs(input: Omit<JobsInput, "director">): PlannedJobs & { readonly ok: false } {
  const result = planJobs({ director: { name: "director" }, ...input });
  if (!result.ok) return result;
  throw new Error("it was planned");
}
