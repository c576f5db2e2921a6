import { type ErrandGroup, errandJobs, errandNames } from "@slipway/engine/jobs/errands";
import { errand } from "@slipway/protocol/director/errand";
import * as v from "valibot";
import { listDeployments } from "../../store/deployments.ts";
import { loadInstances } from "../../store/instances.ts";
import { loadReleases } from "../../store/releases.ts";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { groupsOf } from "../manifest-groups.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Lists what `run-errand` can run: the errands of the last deploy that succeeded, with the jobs of addons. */
export const getDeploymentsNameErrands = endpoint({ reply: v.array(errand) }, async (call, services) => {
  const { db, documents } = services;
  const { name, manifestText } = await deploymentOf(db, param(call, "deployment"));
  if (manifestText === null) return json([]);
  const [summary] = await listDeployments(db, [name]);
  const releases = await loadReleases(db, summary?.releases ?? []);
  const written: readonly ErrandGroup[] = await groupsOf(manifestText, documents);
  const running = (await loadInstances(db, name)).map(({ group, spec }): ErrandGroup => {
    const jobs = (spec?.jobs?.jobs ?? []).flatMap((job) =>
      releases.map((release) => ({ name: job.name, release: release.name })),
    );
    return { name: group, lifecycle: "service", jobs };
  });
  const names = errandNames([...written, ...running], errandJobs(releases));
  return json(names.map((one) => ({ name: one })));
});
