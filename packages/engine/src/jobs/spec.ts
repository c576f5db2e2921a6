import type { JsonObject } from "@slipway/protocol/schema/json";
import { packageWire } from "../agents/agent-client.ts";
import type { InstanceJobs } from "../model/records.ts";

type SpecifiedJobs = Pick<InstanceJobs, "packages" | "configurationHash" | "templateHashes"> & {
  readonly jobs: readonly { readonly name: string; readonly version: string; readonly logs?: JsonObject }[];
};

/** The part of an apply spec that says what runs. Every job is in the one archive. */
export function jobsSpec(
  group: string,
  { jobs, packages, configurationHash, templateHashes }: SpecifiedJobs,
  archive: { readonly blobId: string; readonly digest: string },
): JsonObject {
  const blob = { sha1: archive.digest, blobstore_id: archive.blobId };
  const [first] = jobs;
  return {
    job: {
      name: group,
      template: first?.name ?? "",
      version: first?.version ?? "",
      sha1: "",
      blobstore_id: "",
      templates: jobs.map(({ name, version, logs = {} }) => ({ name, version, ...blob, logs })),
    },
    packages: Object.fromEntries(packages.map((one) => [one.name, packageWire(one)])),
    configuration_hash: configurationHash,
    rendered_templates_archive: blob,
    template_hashes: { ...templateHashes },
  };
}
