import type { DeploymentRecord } from "../store/deployments.ts";
import { findDeployment } from "../store/deployments.ts";
import { type FoundLink, findLink, type ListedLink } from "../store/link-lists.ts";
import type { Db } from "../store/schema.ts";
import { type Query, queryString } from "./call.ts";
import { DeploymentNameMissing, LinkNotFound } from "./link-refusals.ts";
import { NoSuchDeployment } from "./refusals.ts";

/** Links are listed of one deployment: error 190024 where none is named. */
export async function linksDeployment(db: Db, query: Query): Promise<DeploymentRecord> {
  const name = queryString(query, "deployment");
  if (name === undefined) throw DeploymentNameMissing({});
  const found = await findDeployment(db, name);
  if (found === undefined) throw NoSuchDeployment({ name });
  return found;
}

export const idOf = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : -1);

export async function linkOf(db: Db, id: string): Promise<FoundLink> {
  const found = await findLink(db, idOf(id));
  if (found === undefined) throw LinkNotFound({ id });
  return found;
}

export const linkWire = ({ id, name, consumerId, providerId, createdAt }: ListedLink) => ({
  id: String(id),
  name,
  link_consumer_id: String(consumerId),
  link_provider_id: providerId === null ? null : String(providerId),
  created_at: `${new Date(createdAt).toISOString().slice(0, 19).replace("T", " ")} UTC`,
});
