import { release } from "@slipway/protocol/director/release";
import * as v from "valibot";
import { listReleases } from "../../store/releases.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getReleases = endpoint({ reply: v.array(release) }, async (_call, { db }) =>
  json(
    (await listReleases(db)).map(({ name, versions }) => ({
      name,
      release_versions: versions.map((one) => ({
        version: one.version,
        commit_hash: one.commitHash,
        uncommitted_changes: one.uncommittedChanges,
        currently_deployed: one.deployments.length > 0,
        job_names: one.jobs,
      })),
    })),
  ),
);
