import type { InstanceRecord } from "@slipway/engine/model/records";
import { type DeploymentRecord, findDeployment } from "../store/deployments.ts";
import { findInstance } from "../store/instances.ts";
import type { Db } from "../store/schema.ts";
import { NoInstanceName, NoSuchDeployment, NoSuchInstance } from "./refusals.ts";

/** The deployment of a path, or error 70000. */
export async function deploymentOf(db: Db, name: string): Promise<DeploymentRecord> {
  const found = await findDeployment(db, name);
  if (found !== undefined) return found;
  throw NoSuchDeployment({ name });
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
    throw NoInstanceName({ given: indexOrId });
  }
  const found = await findInstance(db, deployment, group, which);
  if (found !== undefined) return found;
  throw NoSuchInstance({ deployment, group, instance: indexOrId });
}
