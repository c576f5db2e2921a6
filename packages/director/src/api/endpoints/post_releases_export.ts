import { releaseExport } from "@slipway/protocol/director/release";
import { exportReleaseParams } from "@slipway/protocol/director/task-params";
import { deploymentOf } from "../lookup.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** `bosh export-release`: the task's result names a blob, which `/resources/:id` has. */
export const postReleasesExport = endpoint({ body: releaseExport }, async (call, services) => {
  const asked = await call.json();
  const { name: deployment } = await deploymentOf(services.db, asked.deployment_name);
  const { release_name: release, release_version: version } = asked;
  const stemcell = `${asked.stemcell_os}/${asked.stemcell_version}`;
  return startTask(call, services, exportReleaseParams, {
    type: "export_release",
    description: `export release: '${release}/${version}' for '${stemcell}'`,
    deployment,
    params: {
      deployment,
      release,
      version,
      stemcell_os: asked.stemcell_os,
      stemcell_version: asked.stemcell_version,
      sha2: asked.sha2 === true,
      jobs: (asked.jobs ?? []).map(({ name }) => name),
    },
  });
});
