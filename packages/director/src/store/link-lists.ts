import type { LinkProvider } from "@slipway/engine/jobs/links/model";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sameLinkContent } from "./link-identity.ts";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";
import { Sealed } from "./sealed.ts";

/** Offered provider, wherever the plan has it from. */
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
  return rows.map(listed);
}

const listed = (row: {
  readonly id: number;
  readonly name: string;
  readonly consumer_id: number;
  readonly provider_id: number | null;
  readonly created_at: Date;
}): ListedLink => ({
  id: row.id,
  name: row.name,
  consumerId: row.consumer_id,
  providerId: row.provider_id,
  createdAt: row.created_at.getTime(),
});

interface OfDeployment {
  readonly deploymentId: number;
  /** Teams of the deployment. */
  readonly teams: readonly string[];
}

/** Finds a provider with its content, which is null until its deployment is deployed. */
export async function findProvider(
  db: Db,
  id: number,
): Promise<(ListedProvider & OfDeployment & { readonly content: JsonObject | null }) | undefined> {
  const row = await db
    .selectFrom("link_providers")
    .select([...PROVIDER, "deployment_id", "content_sealed"])
    .select((query) =>
      query
        .selectFrom("deployments")
        .select("teams")
        .whereRef("deployments.id", "=", "link_providers.deployment_id")
        .as("teams"),
    )
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { deployment_id: deploymentId, content_sealed: content, teams, ...provider } = row;
  return { ...provider, deploymentId, teams: teams ?? [], content };
}

export interface FoundLink {
  readonly id: number;
  readonly content: JsonObject;
  readonly external: boolean;
  /** Teams of the deployment that consumes it; of an external link, of the deployment that offers it. */
  readonly teams: readonly string[];
  /** Teams whose admin asked for an external link. */
  readonly ownerTeams: readonly string[];
  /** Undefined: it is gone. */
  readonly provider: Pick<ListedProvider, "kind" | "name" | "type"> | undefined;
}

export async function findLink(db: Db, id: number): Promise<FoundLink | undefined> {
  const row = await db
    .selectFrom("links as l")
    .innerJoin("link_consumers as c", "c.id", "l.consumer_id")
    .innerJoin("deployments as d", "d.id", "c.deployment_id")
    .leftJoin("link_providers as p", "p.id", "l.provider_id")
    .select([
      "l.id",
      "l.content_sealed",
      "c.group_name",
      "c.owner_teams",
      "d.teams",
      "p.kind",
      "p.name",
      "p.type",
    ])
    .where("l.id", "=", id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { kind, name, type } = row;
  return {
    id: row.id,
    content: row.content_sealed,
    external: row.group_name === null,
    teams: row.teams,
    ownerTeams: row.owner_teams,
    provider: kind === null || name === null || type === null ? undefined : { kind, name, type },
  };
}

/**
 * Gives an external consumer a link, as upstream: the one it has, if that tells the same, else another beside it. Undefined:
 * `mayUse` refuses, by the teams of the consumer that is there.
 */
export function addExternalLink(
  db: Db,
  provider: ListedProvider & OfDeployment,
  consumer: { readonly name: string; readonly ownerTeams: readonly string[] },
  content: JsonObject,
  mayUse: (teams: readonly string[]) => boolean,
): Promise<{ readonly link: ListedLink; readonly created: boolean } | undefined> {
  return inTransaction(db, async (tx) => {
    // One after the other, or both would find none.
    await tx
      .selectFrom("deployments")
      .select("id")
      .where("id", "=", provider.deploymentId)
      .forUpdate()
      .execute();
    const there = await tx
      .selectFrom("link_consumers")
      .select(["id", "owner_teams"])
      .where("deployment_id", "=", provider.deploymentId)
      .where("group_name", "is", null)
      .where("job", "=", consumer.name)
      .where("original_name", "=", provider.originalName)
      .orderBy("id")
      .executeTakeFirst();
    if (there !== undefined && !mayUse([...there.owner_teams, ...provider.teams])) return undefined;
    const consumerId = await saveExternalConsumer(tx, there?.id, provider, consumer);
    const existing = await tx
      .selectFrom("links")
      .select(["id", "name", "consumer_id", "provider_id", "created_at", "content_sealed"])
      .where("consumer_id", "=", consumerId)
      .where("provider_id", "=", provider.id)
      .orderBy("id")
      .execute();
    const same = existing.find((one) => sameLinkContent(one.content_sealed, content));
    if (same !== undefined) return { link: listed(same), created: false };
    const added = await tx
      .insertInto("links")
      .values({
        consumer_id: consumerId,
        provider_id: provider.id,
        name: provider.originalName,
        content_sealed: new Sealed(content),
      })
      .returning(["id", "name", "consumer_id", "provider_id", "created_at"])
      .executeTakeFirstOrThrow();
    return { link: listed(added), created: true };
  });
}

async function saveExternalConsumer(
  tx: Db,
  there: number | undefined,
  { deploymentId, name, originalName, type }: ListedProvider & OfDeployment,
  consumer: { readonly name: string; readonly ownerTeams: readonly string[] },
): Promise<number> {
  if (there !== undefined) {
    await tx.updateTable("link_consumers").set({ name, type }).where("id", "=", there).execute();
    return there;
  }
  const { id } = await tx
    .insertInto("link_consumers")
    .values({
      deployment_id: deploymentId,
      group_name: null,
      job: consumer.name,
      original_name: originalName,
      name,
      type,
      optional: false,
      owner_teams: [...consumer.ownerTeams],
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Deletes an external link, and its consumer with the last one. */
export function removeExternalLink(db: Db, id: number): Promise<void> {
  return inTransaction(db, async (tx) => {
    const [gone] = await tx
      .deleteFrom("links")
      .where("id", "=", id)
      .where("consumer_id", "in", (query) =>
        query.selectFrom("link_consumers").select("id").where("group_name", "is", null),
      )
      .returning("consumer_id")
      .execute();
    if (gone === undefined) return;
    await tx
      .deleteFrom("link_consumers")
      .where("id", "=", gone.consumer_id)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("links").select("id").where("consumer_id", "=", gone.consumer_id))),
      )
      .execute();
  });
}
