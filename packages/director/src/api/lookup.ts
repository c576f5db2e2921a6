import { DirectorError } from "@slipway/engine/model/director-error";
import type { InstanceRecord } from "@slipway/engine/model/records";
import { type DeploymentRecord, findDeployment } from "../store/deployments.ts";
import { findInstance } from "../store/instances.ts";
import type { Db } from "../store/schema.ts";

/** The deployment of a path, or error 70000. */
export async function deploymentOf(db: Db, name: string): Promise<DeploymentRecord> {
  const found = await findDeployment(db, name);
  if (found !== undefined) return found;
  throw new DirectorError(70000, `there is no deployment called '${name}'`, { status: 404 });
}

const INDEX_OR_UUID = /^(\d{1,9}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** An instance by index or id: error 70002 for neither form, 70001 for one that does not exist. */
export async function instanceOf(
  db: Db,
  deployment: string,
  group: string,
  indexOrId: string,
): Promise<InstanceRecord> {
  const which = indexOrId.toLowerCase();
  if (!INDEX_OR_UUID.test(which)) {
    throw new DirectorError(70002, `'${indexOrId}' is neither the index nor the id of an instance`);
  }
  const found = await findInstance(db, deployment, group, which);
  if (found !== undefined) return found;
  throw new DirectorError(
    70001,
    `deployment '${deployment}' has no instance '${group}/${indexOrId}'; \`bosh instances\` lists them`,
    { status: 404 },
  );
}
