import {
  type LinkConsumer,
  type LinkProvider,
  linkGroupName,
  type PlannedLink,
  type PlannedProvider,
  type SharedProvider,
  type SharedProviders,
} from "@slipway/engine/jobs/links/model";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sql } from "kysely";
import {
  consumerKey,
  type FormerGroups,
  providerKey,
  renameConsumers,
  renameProviders,
  sameLinkContent,
} from "./link-identity.ts";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";
import { Sealed } from "./sealed.ts";

/** Links that a deploy offers and uses. */
export interface DeployedLinks {
  /** Earlier names of instance groups (`migrated_from`), by their present name. */
  readonly formerGroups?: FormerGroups;
  readonly linkProviders: readonly PlannedProvider[];
  readonly linkConsumers: readonly LinkConsumer[];
  readonly links: readonly PlannedLink[];
}

/** Identity of a provider, as upstream: it keeps its id when its alias or its type changes. */
const KEY = ["deployment_id", "group_name", "job", "kind", "original_name"] as const;

/**
 * Adds new providers before the deploy. Others may use those that are there, which keep their name until the deploy has
 * succeeded; a new name is found in DNS beside it.
 */
export async function announceProviders(
  db: Db,
  deploymentId: number,
  providers: readonly LinkProvider[],
): Promise<void> {
  if (providers.length === 0) return;
  await db
    .insertInto("link_providers")
    .values(providers.map((one) => ({ ...rowOf(deploymentId, one), content_sealed: null })))
    .onConflict((on) =>
      on.columns(KEY).doUpdateSet(({ ref }) => ({
        aliases: ref("excluded.aliases"),
        announced_name: ref("excluded.name"),
        announced_type: ref("excluded.type"),
      })),
    )
    .execute();
}

/** Replaces the links of a deployment. Unchanged links stay the same ones; those of outsiders stay too. */
export function saveLinks(db: Db, deploymentId: number, made: DeployedLinks): Promise<void> {
  return inTransaction(db, async (tx) => {
    const former = made.formerGroups ?? new Map();
    await renameProviders(tx, deploymentId, made.linkProviders, former);
    await renameConsumers(tx, deploymentId, made.linkConsumers, former);
    const providers = await saveProviders(tx, deploymentId, made.linkProviders);
    const consumers = await saveConsumers(tx, deploymentId, made.linkConsumers);
    const before = await tx
      .selectFrom("links as l")
      .innerJoin("link_consumers as c", "c.id", "l.consumer_id")
      .select(["l.id", "l.consumer_id", "l.provider_id", "l.name", "l.content_sealed"])
      .where("c.deployment_id", "=", deploymentId)
      .where("c.group_name", "is not", null)
      .execute();
    const kept = new Set<number>();
    const added: { consumer_id: number; provider_id: number | null; name: string; content_sealed: Sealed }[] =
      [];
    for (const { name, consumer, provider, content } of made.links) {
      const consumerId = consumers.get(consumerKey(consumer));
      if (consumerId === undefined) continue;
      const providerId =
        providers.get(providerKey(provider)) ?? (await providerElsewhere(tx, provider)) ?? null;
      const same = before.find(
        (one) =>
          one.consumer_id === consumerId &&
          one.provider_id === providerId &&
          one.name === name &&
          sameLinkContent(one.content_sealed, content),
      );
      if (same !== undefined) kept.add(same.id);
      else
        added.push({
          consumer_id: consumerId,
          provider_id: providerId,
          name,
          content_sealed: new Sealed(content),
        });
    }
    const gone = before.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
    if (gone.length > 0) await tx.deleteFrom("links").where("id", "in", gone).execute();
    if (added.length > 0) await tx.insertInto("links").values(added).execute();
  });
}

/** Returns the shared providers, by deployment. Deployments that do not exist, or were never deployed, are left out. */
export async function sharedProviders(db: Db, deployments: readonly string[]): Promise<SharedProviders> {
  if (deployments.length === 0) return new Map();
  const known = await db
    .selectFrom("deployments")
    .select("name")
    .where("name", "in", [...deployments])
    .execute();
  const rows = await db
    .selectFrom("link_providers as p")
    .innerJoin("deployments as d", "d.id", "p.deployment_id")
    .selectAll("p")
    .select("d.name as deployment")
    .where("d.name", "in", [...deployments])
    .where("p.shared", "=", true)
    .orderBy("p.id")
    .execute();
  const found = new Map<string, SharedProvider[]>(known.map(({ name }) => [name, []]));
  for (const row of rows)
    if (row.content_sealed !== null)
      found.get(row.deployment)?.push({
        deployment: row.deployment,
        group: row.group_name,
        job: row.job,
        kind: row.kind,
        originalName: row.original_name,
        name: row.name,
        type: row.type,
        shared: row.shared,
        consumable: row.consumable,
        custom: row.custom,
        properties: row.properties_sealed,
        aliases: row.aliases,
        content: row.content_sealed,
      });
  return found;
}

/**
 * Returns all providers of jobs, of all deployments: names of links stand for them. One is there twice while a deploy gives it
 * another name.
 */
export async function providersWithNames(
  db: Db,
): Promise<readonly Pick<LinkProvider, "deployment" | "group" | "name" | "type" | "aliases">[]> {
  const rows = await db
    .selectFrom("link_providers as p")
    .innerJoin("deployments as d", "d.id", "p.deployment_id")
    .select(["d.name as deployment", "p.group_name as group", "p.name", "p.type", "p.aliases"])
    .select(["p.announced_name", "p.announced_type"])
    .where("p.kind", "=", "job")
    .orderBy("p.id")
    .execute();
  return rows.flatMap(({ announced_name, announced_type, ...deployed }) => {
    const announced = {
      ...deployed,
      name: announced_name ?? deployed.name,
      type: announced_type ?? deployed.type,
    };
    return linkGroupName(announced) === linkGroupName(deployed) ? [deployed] : [deployed, announced];
  });
}

const rowOf = (deploymentId: number, one: LinkProvider) => ({
  deployment_id: deploymentId,
  group_name: one.group,
  job: one.job,
  kind: one.kind,
  original_name: one.originalName,
  name: one.name,
  type: one.type,
  shared: one.shared,
  consumable: one.consumable,
  custom: one.custom,
  properties_sealed: new Sealed(one.properties),
  aliases: JSON.stringify(one.aliases),
});

const sealedOrNull = (content: JsonObject | null) => (content === null ? null : new Sealed(content));

const otherThan = (saved: readonly { readonly id: number }[]) =>
  sql<boolean>`id <> all(${saved.map(({ id }) => id)}::bigint[])`;

async function saveProviders(
  tx: Db,
  deploymentId: number,
  providers: readonly PlannedProvider[],
): Promise<ReadonlyMap<string, number>> {
  const saved =
    providers.length === 0
      ? []
      : await tx
          .insertInto("link_providers")
          .values(
            providers.map((one) => ({
              ...rowOf(deploymentId, one),
              content_sealed: sealedOrNull(one.content),
            })),
          )
          .onConflict((on) =>
            on.columns(KEY).doUpdateSet(({ ref }) => ({
              name: ref("excluded.name"),
              type: ref("excluded.type"),
              announced_name: null,
              announced_type: null,
              shared: ref("excluded.shared"),
              consumable: ref("excluded.consumable"),
              custom: ref("excluded.custom"),
              properties_sealed: ref("excluded.properties_sealed"),
              aliases: ref("excluded.aliases"),
              content_sealed: ref("excluded.content_sealed"),
            })),
          )
          .returning(["id", "group_name", "job", "kind", "original_name"])
          .execute();
  await tx
    .deleteFrom("link_providers")
    .where("deployment_id", "=", deploymentId)
    .where(otherThan(saved))
    .execute();
  return new Map(
    saved.map(({ id, group_name: group, job, kind, original_name: originalName }) => [
      providerKey({ group, job, kind, originalName }),
      id,
    ]),
  );
}

async function saveConsumers(
  tx: Db,
  deploymentId: number,
  consumers: readonly LinkConsumer[],
): Promise<ReadonlyMap<string, number>> {
  const saved =
    consumers.length === 0
      ? []
      : await tx
          .insertInto("link_consumers")
          .values(
            consumers.map((one) => ({
              deployment_id: deploymentId,
              group_name: one.group,
              job: one.job,
              original_name: one.originalName,
              name: one.name,
              type: one.type,
              optional: one.optional,
            })),
          )
          .onConflict((on) =>
            on.columns(["deployment_id", "group_name", "job", "original_name"]).doUpdateSet(({ ref }) => ({
              name: ref("excluded.name"),
              type: ref("excluded.type"),
              optional: ref("excluded.optional"),
            })),
          )
          .returning(["id", "group_name", "job", "original_name"])
          .execute();
  await tx
    .deleteFrom("link_consumers")
    .where("deployment_id", "=", deploymentId)
    .where("group_name", "is not", null)
    .where(otherThan(saved))
    .execute();
  return new Map(
    saved.map(({ id, group_name: group, job, original_name: originalName }) => [
      consumerKey({ group: group ?? "", job, originalName }),
      id,
    ]),
  );
}

/** Finds the id of a provider in another deployment. */
async function providerElsewhere(tx: Db, provider: LinkProvider): Promise<number | undefined> {
  const row = await tx
    .selectFrom("link_providers as p")
    .innerJoin("deployments as d", "d.id", "p.deployment_id")
    .select("p.id")
    .where("d.name", "=", provider.deployment)
    .where("p.group_name", "=", provider.group)
    .where("p.job", "=", provider.job)
    .where("p.kind", "=", provider.kind)
    .where("p.original_name", "=", provider.originalName)
    .executeTakeFirst();
  return row?.id;
}
