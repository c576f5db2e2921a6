import { listDeployments } from "../../store/deployments.ts";
import { NothingDeployed } from "../errors.ts";
import type { OperationContext } from "../operation.ts";
import type { Request } from "./gather.ts";

export const AS_DEPLOYED = {
  recreate: false,
  recreate_persistent_disks: false,
  dry_run: false,
  force_latest_variables: false,
};

/** Returns the deployment as it was last deployed. Silent agents do not block it. */
export async function deployedRequest(deployment: string, { db }: OperationContext): Promise<Request> {
  const [found] = await listDeployments(db, [deployment]);
  if (found === undefined || found.manifestText === null) throw NothingDeployed({ deployment });
  return {
    deployment,
    manifestText: found.manifestText,
    configIds: found.configs.map(({ id }) => id),
    options: { ...AS_DEPLOYED, fix: true, skip_drain: [] },
    state: undefined,
    firstDeploy: false,
    versions: "deployed",
    askedAt: 0,
  };
}
