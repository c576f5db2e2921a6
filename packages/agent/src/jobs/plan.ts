import { type ApplySpec, hasJobs } from "@slipway/protocol/agent/apply-spec";
import { parseDigests } from "../blobs/digest.ts";
import { type Bundle, bundleOf, type Collection } from "../bundles/bundle.ts";
import { SpecUnusable } from "../bundles/errors.ts";
import type { Paths } from "../paths.ts";
import type { BlobSource } from "../services.ts";

export interface PackagePlan {
  readonly name: string;
  readonly bundle: Bundle;
  readonly source: BlobSource;
}

/** Jobs and packages that a spec puts on the VM. */
export interface AgentJobsPlan {
  /** Jobs in the order of the spec. */
  readonly jobs: readonly Bundle[];
  /** Archive of the rendered templates of all jobs. Undefined without jobs. */
  readonly archive: BlobSource | undefined;
  readonly packages: readonly PackagePlan[];
}

export const jobsOf = ({ dataJobs, jobs }: Paths): Collection => ({ installed: dataJobs, enabled: jobs });
export const packagesOf = ({ dataPackages, packages }: Paths): Collection => ({
  installed: dataPackages,
  enabled: packages,
});

/** The links inside a job, which lead to the same packages. They live and die with the job. */
export const packagesOfJob = (job: Bundle, { dataPackages }: Paths): Collection => ({
  installed: dataPackages,
  enabled: `${job.directory}/packages`,
});

/** Pure. A spec that names what cannot be installed is refused before anything is fetched. */
export function planJobs(spec: ApplySpec, paths: Paths): AgentJobsPlan {
  const packages = Object.entries(spec.packages ?? {}).map(([key, given]) =>
    planPackage(
      {
        name: given.name || key,
        version: given.version ?? "",
        digest: given.sha1 ?? "",
        blobId: given.blobstore_id ?? "",
        signedUrl: given.signed_url ?? undefined,
        headers: given.blobstore_headers ?? undefined,
      },
      paths,
    ),
  );
  if (!hasJobs(spec)) return { jobs: [], archive: undefined, packages };
  const { blobstore_id: blobId, sha1: digest } = spec.rendered_templates_archive ?? {};
  const shown = digests(digest ?? "", "the rendered templates");
  const jobs = (spec.job?.templates ?? []).map(({ name, version }) => {
    checkName(name, "job");
    if (!version) throw SpecUnusable({ why: `the job ${name} has no version` });
    // The same version renders to other files with other properties.
    return bundleOf(jobsOf(paths), name, `${version}-${shown}`);
  });
  return { jobs, archive: { blobId: blobId ?? "", digest: digest ?? "" }, packages };
}

export function planPackage(
  given: BlobSource & { readonly name: string; readonly version: string },
  paths: Paths,
): PackagePlan {
  const { name, version, ...source } = given;
  checkName(name, "package");
  if (version === "") throw SpecUnusable({ why: `the package ${name} has no version` });
  const shown = digests(source.digest, `the package ${name}`);
  if (!source.blobId && !source.signedUrl)
    throw SpecUnusable({ why: `No blobstore reference for package '${name}'` });
  return { name, bundle: bundleOf(packagesOf(paths), name, `${version}-${shown}`), source };
}

/** Names become directories. */
export function checkName(name: string, what: string): void {
  const fits = /^[^./\0][^/\0]*$/.test(name) && Buffer.byteLength(name) <= 200;
  if (!fits) throw SpecUnusable({ why: `a ${what} cannot be named ${JSON.stringify(name.slice(0, 100))}` });
}

/** All of them as upstream prints them, because it names directories by that. */
function digests(text: string, what: string): string {
  try {
    return parseDigests(text).shown;
  } catch (cause) {
    throw SpecUnusable({ why: `the digest of ${what}` }, { cause });
  }
}
