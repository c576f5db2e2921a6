import type { LinkProvider } from "@slipway/engine/jobs/links/model";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";
import { Sealed } from "./sealed.ts";

/** One who is offered, wherever the plan has it from. */
export interface ListedProvider {
  readonly id: number;
  readonly group: string;
  readonly job: string;
  readonly kind: LinkProvider["kind"];
  readonly originalName: string;
  readonly name: string;
  readonly type: string;
  readonly shared: boolean;
}

export interface ListedConsumer {
  readonly id: number;
  /** Null: it is outside. */
  readonly group: string | null;
  readonly job: string;
  readonly originalName: string;
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
}

export interface ListedLink {
  readonly id: number;
  readonly name: string;
  readonly consumerId: number;
  readonly providerId: number | null;
  readonly createdAt: number;
}

const PROVIDER = [
  "id",
  "group_name as group",
  "job",
  "kind",
  "original_name as originalName",
  "name",
  "type",
  "shared",
] as const;

export const listProviders = (db: Db, deploymentId: number): Promise<readonly ListedProvider[]> =>
  db
    .selectFrom("link_providers")
    .select(PROVIDER)
    .where("deployment_id", "=", deploymentId)
    .orderBy("id")
    .execute();

export const listConsumers = (db: Db, deploymentId: number): Promise<readonly ListedConsumer[]> =>
  db
    .selectFrom("link_consumers")
    .select(["id", "group_name as group", "job", "original_name as originalName", "name", "type", "optional"])
    .where("deployment_id", "=", deploymentId)
    .orderBy("id")
    .execute();

export async function listLinks(db: Db, deploymentId: number): Promise<readonly ListedLink[]> {
  const rows = await db
    .selectFrom("links as l")
    .innerJoin("link_consumers as c", "c.id", "l.consumer_id")
    .select(["l.id", "l.name", "l.consumer_id", "l.provider_id", "l.created_at"])
    .where("c.deployment_id", "=", deploymentId)
    .orderBy("l.id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    consumerId: row.consumer_id,
    providerId: row.provider_id,
    createdAt: row.created_at.getTime(),
  }));
}

/** With what it tells; its content is null until its deployment is deployed. */
export async function findProvider(
  db: Db,
  id: number,
): Promise<
  (ListedProvider & { readonly deploymentId: number; readonly content: JsonObject | null }) | undefined
> {
  const row = await db
    .selectFrom("link_providers")
    .select([...PROVIDER, "deployment_id", "content_sealed"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { deployment_id: deploymentId, content_sealed: content, ...provider } = row;
  return { ...provider, deploymentId, content };
}

export interface FoundLink {
  readonly id: number;
  readonly content: JsonObject;
  readonly external: boolean;
  /** Teams of the deployment that consumes it. */
  readonly teams: readonly string[];
  /** Undefined: it is gone. */
  readonly provider: Pick<ListedProvider, "kind" | "name" | "type"> | undefined;
}

export async function findLink(db: Db, id: number): Promise<FoundLink | undefined> {
  const row = await db
    .selectFrom("links as l")
    .innerJoin("link_consumers as c", "c.id", "l.consumer_id")
    .innerJoin("deployments as d", "d.id", "c.deployment_id")
    .leftJoin("link_providers as p", "p.id", "l.provider_id")
    .select(["l.id", "l.content_sealed", "c.group_name", "d.teams", "p.kind", "p.name", "p.type"])
    .where("l.id", "=", id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { kind, name, type } = row;
  return {
    id: row.id,
    content: row.content_sealed,
    external: row.group_name === null,
    teams: row.teams,
    provider: kind === null || name === null || type === null ? undefined : { kind, name, type },
  };
}

/** A link of somebody outside. What the same one has of the same provider already is its link. */
export function addExternalLink(
  db: Db,
  provider: ListedProvider & { readonly deploymentId: number },
  consumer: string,
  content: JsonObject,
): Promise<ListedLink> {
  return inTransaction(db, async (tx) => {
    // One after the other, or both would find none.
    await tx
      .selectFrom("deployments")
      .select("id")
      .where("id", "=", provider.deploymentId)
      .forUpdate()
      .execute();
    const its = {
      deployment_id: provider.deploymentId,
      group_name: null,
      job: consumer,
      original_name: provider.originalName,
      type: provider.type,
    };
    const there = await tx
      .selectFrom("link_consumers")
      .select("id")
      .where("deployment_id", "=", its.deployment_id)
      .where("group_name", "is", null)
      .where("job", "=", its.job)
      .where("original_name", "=", its.original_name)
      .where("type", "=", its.type)
      .executeTakeFirst();
    const { id: consumerId } =
      there ??
      (await tx
        .insertInto("link_consumers")
        .values({ ...its, name: provider.name, optional: false })
        .returning("id")
        .executeTakeFirstOrThrow());
    await tx.deleteFrom("links").where("consumer_id", "=", consumerId).execute();
    const { id, created_at: createdAt } = await tx
      .insertInto("links")
      .values({
        consumer_id: consumerId,
        provider_id: provider.id,
        name: provider.originalName,
        content_sealed: new Sealed(content),
      })
      .returning(["id", "created_at"])
      .executeTakeFirstOrThrow();
    return {
      id,
      name: provider.originalName,
      consumerId,
      providerId: provider.id,
      createdAt: createdAt.getTime(),
    };
  });
}

/** With who consumed it. */
export async function removeExternalLink(db: Db, id: number): Promise<void> {
  await db
    .deleteFrom("link_consumers")
    .where("group_name", "is", null)
    .where("id", "in", (query) => query.selectFrom("links").select("consumer_id").where("id", "=", id))
    .execute();
}
