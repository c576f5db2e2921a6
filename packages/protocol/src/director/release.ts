import * as v from "valibot";
import { jsonObject, open, text } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";

/** `GET /releases`: by name, versions the oldest first. */
export const release = open({
  name: v.string(),
  release_versions: v.array(
    open({
      version: v.string(),
      commit_hash: v.nullish(v.string()),
      uncommitted_changes: v.nullish(v.boolean()),
      currently_deployed: v.nullish(doc(v.boolean(), "a deployment uses it")),
      job_names: v.nullish(v.array(v.string())),
    }),
  ),
});
export type Release = v.InferOutput<typeof release>;

const link = { name: v.string(), type: v.string() };
const stored = {
  blobstore_id: v.nullish(v.string()),
  sha1: v.nullish(doc(v.string(), "digest of its archive")),
};

/** `GET /releases/:name`: what is in one version, or without `version` in any of them. */
export const releaseContent = open({
  jobs: v.array(
    open({
      name: v.string(),
      fingerprint: v.optional(v.string()),
      ...stored,
      consumes: v.optional(v.array(open({ ...link, optional: v.nullish(v.boolean()) }))),
      provides: v.optional(v.array(open({ ...link, properties: v.nullish(v.array(v.string())) }))),
      version: v.optional(doc(v.string(), "of all versions only, as those below")),
      packages: v.optional(v.array(v.string())),
    }),
  ),
  packages: v.array(
    open({
      name: v.string(),
      fingerprint: v.optional(v.string()),
      ...stored,
      compiled_packages: v.optional(
        v.array(open({ stemcell: doc(v.string(), "`<os>/<version>`"), ...stored })),
      ),
      version: v.optional(v.string()),
      dependencies: v.optional(v.array(v.string())),
    }),
  ),
  versions: v.optional(v.array(v.string())),
});
export type ReleaseContent = v.InferOutput<typeof releaseContent>;

export const releaseQuery = open({ version: v.optional(v.string()) });

/** `GET /jobs`: one job of a release. */
export const releaseJob = open({
  name: v.string(),
  fingerprint: v.string(),
  spec: doc(jsonObject(), "its `job.MF`"),
});
export const releaseJobQuery = open({
  name: doc(v.string(), "of the job"),
  release_name: v.string(),
  fingerprint: doc(v.string(), "of the job"),
});

/** `POST /releases` as JSON: an address, from which the Director fetches it. */
export const releaseAddress = open({
  location: doc(hidden(text("location")), "a URL"),
  sha1: v.optional(v.nullable(doc(v.string(), "digests: `sha256:...`, several joined by `;`"))),
});
export const releaseUploadQuery = open({
  fix: v.optional(doc(v.string(), "`true`: store all of it again")),
  rebase: v.optional(doc(v.string(), "`true`: give it the next `+dev.N` that is free")),
});

/** `DELETE /releases/:name`. */
export const releaseDeletionQuery = open({
  version: v.optional(doc(v.string(), "without it: all versions")),
  force: v.optional(v.string()),
});

/** `POST /releases/export`. Versions may come as numbers. */
const version = v.pipe(v.union([text("version"), v.number()]), v.transform(String));
export const releaseExport = open({
  deployment_name: doc(text("deployment_name"), "one that uses the release"),
  release_name: text("release_name"),
  release_version: version,
  stemcell_os: text("stemcell_os"),
  stemcell_version: version,
  sha2: v.optional(v.nullable(doc(v.boolean(), "the digest is a SHA-256, not a SHA-1"))),
  jobs: v.optional(v.nullable(doc(v.array(open({ name: text("name") })), "only these"))),
});
/** Result of the export task. */
export const exportedRelease = open({
  blobstore_id: doc(text("blobstore_id"), "for `GET /resources/:id`"),
  sha1: v.nullish(doc(v.string(), "digest of the archive")),
});

/** `POST /packages/matches` and `matches_compiled`: fingerprints of packages that need not be uploaded. */
export const packageMatches = v.array(v.string());
