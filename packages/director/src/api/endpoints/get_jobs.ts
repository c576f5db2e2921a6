import { releaseJob, releaseJobQuery } from "@slipway/protocol/director/release";
import * as v from "valibot";
import { jobOf } from "../../store/release-parts.ts";
import { listReleases } from "../../store/releases.ts";
import { queryString } from "../call.ts";
import { NoSuchJob, NoSuchRelease, ParameterMissing } from "../refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** The spec of one job, by its fingerprint: for tools that resolve link types before a deploy. */
export const getJobs = endpoint(
  { query: releaseJobQuery, reply: v.array(releaseJob) },
  async ({ query }, { db }) => {
    const needed = (name: keyof typeof releaseJobQuery.entries): string => {
      const value = queryString(query, name);
      if (value === undefined) throw ParameterMissing({ where: "query", name });
      return value;
    };
    const [name, release, fingerprint] = [needed("name"), needed("release_name"), needed("fingerprint")];
    const found = await jobOf(db, { release, name, fingerprint });
    if (found !== undefined) return json([{ name, fingerprint, spec: found.spec }]);
    const [known] = await listReleases(db, { name: release });
    throw known === undefined ? NoSuchRelease({ name: release }) : NoSuchJob({ name, release, fingerprint });
  },
);
